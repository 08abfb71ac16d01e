-- Removes an endpoint of an account, or with null all that it has; returns how many. From then on no reader finds them, nothing is
-- sent to them, and what their owner wrote is gone; forget_webhooks deletes the rows, which may be many, in steps.
create or replace function remove_webhook_endpoints(p_account uuid, p_endpoint text) returns integer
language plpgsql set search_path = public, pg_temp as $$
declare
  v_rows integer;
begin
  update webhook_endpoints
     set removed_at = now(), url = case when url is not null then '' end, description = '', event_types = '{}', secret = '',
         previous_secret = null, previous_until = null, disabled_at = coalesce(disabled_at, now()),
         disabled_why = coalesce(disabled_why, 'owner')
   where account_id = p_account and removed_at is null and (p_endpoint is null or id = p_endpoint and url is not null);
  get diagnostics v_rows = row_count;
  return v_rows;
end $$;
