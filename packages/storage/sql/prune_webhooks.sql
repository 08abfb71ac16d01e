-- Ends deliveries whose three days are over, and deletes unused receivers, at most p_limit of each. Returns how many.
-- Events and deliveries are dropped with their month: see drop_month.
create or replace function prune_webhooks(p_limit integer) returns integer
language plpgsql set search_path = public, pg_temp as $$
declare
  v_pruned integer;
  v_rows integer;
begin
  update webhook_deliveries set status = 'failed', ended_at = now(), lease_owner = null where id = any(array(
    select id from webhook_deliveries where status = 'pending' and expires_at < now() - interval '1 hour'
     limit p_limit for update skip locked));
  get diagnostics v_pruned = row_count;
  delete from webhook_receivers where ctid = any(array(
    select ctid from webhook_receivers where used_at < now() - interval '65 days' limit p_limit for update skip locked));
  get diagnostics v_rows = row_count;
  v_pruned := v_pruned + v_rows;
  -- For accounts that live in another cell: their deliveries in progress have ended.
  select coalesce(sum(remove_webhook_endpoints(id, null)), 0) into v_rows from (
    select id from accounts a where moved_to is not null and keep_until < now()
       and exists (select from webhook_endpoints e where e.account_id = a.id and e.removed_at is null) limit p_limit) moved;
  return v_pruned + v_rows;
end $$;
