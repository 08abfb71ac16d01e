-- The root of a Merkle tree over these hashes of 32 bytes each, as in RFC 6962: neighbours are hashed together; a hash
-- without a neighbour moves up unchanged.
create or replace function merkle_root(p_hashes bytea) returns bytea language plpgsql immutable as $$
declare
  v_hashes bytea := p_hashes;
begin
  while octet_length(v_hashes) > 32 loop
    select string_agg(case when at + 64 > octet_length(v_hashes) then substring(v_hashes from at + 1 for 32)
                           else sha256('\x01'::bytea || substring(v_hashes from at + 1 for 64)) end, '' order by at)
      into v_hashes from generate_series(0, octet_length(v_hashes) - 32, 64) as at;
  end loop;
  return v_hashes;
end $$;
