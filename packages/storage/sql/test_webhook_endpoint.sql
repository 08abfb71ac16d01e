-- Sends a test event to an endpoint, whatever types it wants. Returns the delivery; null if the endpoint is unknown,
-- disabled, or represents every webhook_url.
create or replace function test_webhook_endpoint(p_account uuid, p_endpoint text) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_url text;
  v_event text;
  v_receiver bigint;
  v_delivery text;
begin
  select url into v_url from webhook_endpoints
   where id = p_endpoint and account_id = p_account and url is not null and disabled_at is null for key share;
  if not found then return null; end if;
  insert into webhook_events (account_id, type, data, spread_at)
  values (p_account, 'webhook.test', jsonb_build_object('endpoint_id', p_endpoint), now()) returning id into v_event;
  insert into webhook_receivers as r (endpoint_id, account_id, origin, next_due_at)
  values (p_endpoint, p_account, substring(v_url from '^[^/]*//[^/?#]*'), now())
  on conflict (endpoint_id, origin) do update set next_due_at = now(), used_at = now()
  returning id into v_receiver;
  insert into webhook_deliveries (event_id, endpoint_id, receiver_id, account_id)
  values (v_event, p_endpoint, v_receiver, p_account) returning id into v_delivery;
  return v_delivery;
end $$;
