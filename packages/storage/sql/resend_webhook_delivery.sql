-- Sends a delivery again, with three new days of attempts; a waiting delivery is sent now.
--   resent    it waits for its first attempt
--   under_way an attempt is being made
--   disabled  its endpoint is disabled
-- No row: the account has no such delivery.
create or replace function resend_webhook_delivery(p_account uuid, p_endpoint text, p_delivery text) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_receiver bigint;
  v_is_disabled boolean;
begin
  select r.id, e.disabled_at is not null into v_receiver, v_is_disabled
    from webhook_deliveries d join webhook_receivers r on r.id = d.receiver_id join webhook_endpoints e on e.id = d.endpoint_id
   where d.id = p_delivery and d.created_at > now() - interval '30 days' and d.endpoint_id = p_endpoint and d.account_id = p_account
     and e.removed_at is null for update of r;
  if not found then return null; end if;
  if v_is_disabled then return 'disabled'; end if;
  update webhook_deliveries
     set status = 'pending', ended_at = null, tries = 0, due_at = now(), expires_at = now() + interval '3 days'
   where id = p_delivery and (lease_owner is null or due_at <= now());
  if not found then return 'under_way'; end if;
  -- A person requested it, so it is tried even if the receiver is paused.
  update webhook_receivers set next_due_at = now(), used_at = now() where id = v_receiver;
  return 'resent';
end $$;
