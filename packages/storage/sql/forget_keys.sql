-- Deletes at most p_limit idempotency keys of closed accounts; returns how many. Keys of polls are usually deleted with
-- their polls. A locked key belongs to a request from before the account was closed: the next call finds it.
create or replace function forget_keys(p_limit integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_account uuid;
  v_rows integer;
  v_done integer := 0;
begin
  for v_account in
    select id from accounts
     where deleted_at is not null and emptied_at is null and (keep_until is null or keep_until < now()) order by deleted_at
  loop
    delete from idempotency where ctid = any(array(
      select ctid from idempotency where principal = v_account::text limit p_limit - v_done for update skip locked));
    get diagnostics v_rows = row_count;
    v_done := v_done + v_rows;
    exit when v_done >= p_limit;
  end loop;
  return v_done;
end $$;
