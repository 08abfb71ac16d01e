-- The hash of the transfers with ids in (p_after, p_to], including all their columns.
create or replace function hash_transfers(p_after bigint, p_to bigint, out transfers integer, out hash bytea)
language plpgsql stable set plan_cache_mode = force_custom_plan as $$
begin
  select count(*), sha256(convert_to(coalesce(string_agg(row(t.id, t.idem, t.kind, t.debit, t.credit, t.amount_u,
           t.pending_id, t.poll_id, extract(epoch from t.created_at))::text, e'\n' order by t.id), ''), 'UTF8'))
    into transfers, hash
    from transfers t where t.id > p_after and t.id <= p_to;
end $$;
