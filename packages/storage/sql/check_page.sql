-- Errors in a closed page and in the seal of its day. A day's polls may be deleted once its seal says so (polls_kept).
create or replace function check_page(p_last_id bigint) returns table (rule text, subject text, found text)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_page ledger_pages;
begin
  select * into strict v_page from ledger_pages where last_id = p_last_id;
  return query
select 'page', v_page.last_id::text, format('%s transfers, %s when it was closed; the hash differs', h.transfers, v_page.transfers)
  from hash_transfers(v_page.first_id - 1, v_page.last_id) h where (h.hash, h.transfers) <> (v_page.hash, v_page.transfers)
union all
select * from check_transfers(v_page.first_id - 1, v_page.last_id,
                              coalesce((select polls_kept from ledger_seals where day = v_page.day), true))
union all
select * from check_seals(v_page.day, v_page.day);
end $$;
