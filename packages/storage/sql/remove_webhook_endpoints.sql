-- Removes an endpoint of an account, or all of them if null; returns how many. They become invisible at once, get no
-- more deliveries, and lose their owner's texts; forget_webhooks deletes their many rows in steps.
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
