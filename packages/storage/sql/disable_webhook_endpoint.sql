-- Stops sending to the endpoint and fails its waiting deliveries; the account's other endpoints are notified.
-- False: it is unknown, already disabled, or the endpoint that represents every webhook_url.
create or replace function disable_webhook_endpoint(p_account uuid, p_endpoint text, p_why text) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_endpoint webhook_endpoints;
begin
  update webhook_endpoints set disabled_at = now(), disabled_why = p_why
   where id = p_endpoint and account_id = p_account and url is not null and disabled_at is null
  returning * into v_endpoint;
  if not found then return false; end if;
  update webhook_deliveries set status = 'failed', ended_at = now(), lease_owner = null
   where endpoint_id = p_endpoint and status = 'pending';
  update webhook_receivers set next_due_at = 'infinity' where endpoint_id = p_endpoint;
  perform note_webhook_event(p_account, 'endpoint.disabled', jsonb_build_object(
    'endpoint_id', p_endpoint, 'url', v_endpoint.url, 'reason', p_why));
  return true;
end $$;
