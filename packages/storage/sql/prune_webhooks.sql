-- Ends deliveries whose three days are over, and deletes events with their deliveries after 30 days; at most p_limit of
-- each. Returns how many.
create or replace function prune_webhooks(p_limit integer) returns integer
language plpgsql set search_path = public, pg_temp as $$
declare
  v_pruned integer;
  v_rows integer;
begin
  update webhook_deliveries set status = 'failed', ended_at = now(), lease_owner = null where ctid = any(array(
    select ctid from webhook_deliveries where status = 'pending' and expires_at < now() - interval '1 hour'
     limit p_limit for update skip locked));
  get diagnostics v_pruned = row_count;
  delete from webhook_events where ctid = any(array(
    select ctid from webhook_events where created_at < now() - interval '30 days'
     order by created_at limit p_limit for update skip locked));
  get diagnostics v_rows = row_count;
  v_pruned := v_pruned + v_rows;
  delete from webhook_receivers where ctid = any(array(
    select ctid from webhook_receivers where used_at < now() - interval '35 days' limit p_limit for update skip locked));
  get diagnostics v_rows = row_count;
  return v_pruned + v_rows;
end $$;
