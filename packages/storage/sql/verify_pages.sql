-- Rereads closed pages for about p_budget_ms, those not yet proved first, then those not read for longest. Damage to
-- any page is found once all pages have had their turn.
create or replace function verify_pages(p_budget_ms integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_page ledger_pages;
  v_read integer := 0;
  v_began constant timestamptz := clock_timestamp();
begin
  for v_page in select * from ledger_pages order by proved, verified_at limit 100 loop
    exit when clock_timestamp() > v_began + p_budget_ms * interval '1 millisecond';
    update ledger_pages set verified_at = clock_timestamp(), proved = not exists (select from check_page(v_page.last_id))
     where last_id = v_page.last_id;
    v_read := v_read + 1;
  end loop;
  return v_read;
end $$;
