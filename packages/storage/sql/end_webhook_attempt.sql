-- Records the outcome of an attempt. p: id, attempt, worker; outcome; entry, its line in the log; is_quick; retry_ms.
--   delivered  it succeeded
--   retry      it failed: try again after retry_ms
--   failed     it failed, and there are no more attempts
--   gone       it failed with 410: the endpoint is disabled, with all its deliveries
--   released   it was not made: the next worker takes it at once
-- After 5 failed attempts in a row a receiver is paused for 10 s, then twice as long each time up to 10 minutes; a
-- single attempt then tests it. An endpoint without a successful delivery for three days is disabled.
-- False: the lease was lost, or the delivery had ended or was deleted; nothing was written.
create or replace function end_webhook_attempt(p jsonb) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_outcome constant text := p ->> 'outcome';
  v_receiver webhook_receivers;
  v_delivery webhook_deliveries;
begin
  select r.* into v_receiver from webhook_deliveries d join webhook_receivers r on r.id = d.receiver_id
   where d.id = p ->> 'id' for update of r;
  update webhook_deliveries
     set status = case v_outcome when 'delivered' then 'delivered' when 'failed' then 'failed' when 'gone' then 'failed'
                  else 'pending' end,
         ended_at = case when v_outcome in ('delivered', 'failed', 'gone') then now() end,
         due_at = case v_outcome when 'retry' then now() + (p ->> 'retry_ms')::bigint * interval '1 millisecond'
                  else now() end,
         lease_owner = null,
         attempts = attempts,
         tries = tries - case when v_outcome = 'released' then 1 else 0 end,
         log = case when p ? 'entry' then
           (case when jsonb_array_length(log) >= 12 then log - 0 else log end) || jsonb_build_array(p -> 'entry')
           else log end
   where id = p ->> 'id' and attempts = (p ->> 'attempt')::integer and lease_owner = p ->> 'worker'
  returning * into v_delivery;
  if not found then return false; end if;

  if v_outcome <> 'released' then
    v_receiver.failures := case when v_outcome = 'delivered' then 0 else v_receiver.failures + 1 end;
    v_receiver.resting_until := case
      when v_receiver.failures < 5 then '-infinity'
      else now() + least(10 * 2 ^ least(v_receiver.failures - 5, 10), 600) * interval '1 second' end;
    v_receiver.is_quick := (p ->> 'is_quick')::boolean;
  end if;
  update webhook_receivers
     set failures = v_receiver.failures, resting_until = v_receiver.resting_until, is_quick = v_receiver.is_quick,
         used_at = now(), next_due_at = next_webhook_due(v_receiver.id, v_receiver.resting_until, '0')
   where id = v_receiver.id;

  if v_outcome = 'delivered' then
    update webhook_endpoints set failing_since = null where id = v_delivery.endpoint_id and failing_since is not null;
  elsif v_outcome <> 'released' then
    update webhook_endpoints set failing_since = now()
     where id = v_delivery.endpoint_id and url is not null and failing_since is null;
    if v_outcome = 'gone' then
      perform disable_webhook_endpoint(v_delivery.account_id, v_delivery.endpoint_id, 'gone');
    else
      perform disable_webhook_endpoint(v_delivery.account_id, id, 'failing') from webhook_endpoints
        where id = v_delivery.endpoint_id and failing_since < now() - interval '3 days' and disabled_at is null;
    end if;
  end if;
  return true;
end $$;
