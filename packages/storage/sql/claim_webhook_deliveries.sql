-- Claims due deliveries under a lease, so that none is claimed twice. A delivery that has not ended when its lease
-- does, because its worker died, is due again. Each receiver has a maximum:
--   per_receiver at once, or one while it does not answer well; per_account at once;
--   and at most p.slow in this call for receivers that did not answer well lately, so that others have places left.
create or replace function claim_webhook_deliveries(p jsonb)
returns table (id text, attempt integer, tries smallint, event_id text, type text, data jsonb, happened_at timestamptz,
  created_at timestamptz, account_id uuid, endpoint_id text, url text, secret text, previous_secret text, is_quick boolean, is_last boolean)
-- Without sequential scans: a month that is not analyzed yet seems to consist of leased deliveries only.
language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
declare
  v_left integer := p ->> 'limit';
  v_slow_left integer := p ->> 'slow';
  v_full uuid[];
  v_receiver webhook_receivers;
  v_take integer;
begin
  select coalesce(array_agg(account_id), '{}') into v_full from (
    select account_id from webhook_deliveries where lease_owner is not null and due_at > now()
     group by account_id having count(*) >= (p ->> 'per_account')::integer) f;
  for v_receiver in
    select * from webhook_receivers r where r.next_due_at <= now() and r.account_id <> all (v_full)
     order by r.next_due_at limit (p ->> 'limit')::integer for update skip locked
  loop
    exit when v_left <= 0;
    if exists (select from webhook_endpoints e where e.id = v_receiver.endpoint_id and e.removed_at is not null) then
      update webhook_receivers set next_due_at = 'infinity' where id = v_receiver.id;
      continue;
    end if;
    select least(v_left, case when v_receiver.is_quick then (p ->> 'per_receiver')::integer else least(1, v_slow_left) end
                   - count(*) filter (where receiver_id = v_receiver.id),
                 (p ->> 'per_account')::integer - count(*))
      into v_take from webhook_deliveries d
     where d.account_id = v_receiver.account_id and d.lease_owner is not null and d.due_at > now();
    if v_take > 0 then
      return query
        with due as (
          select d.id from webhook_deliveries d
           where d.receiver_id = v_receiver.id and d.status = 'pending' and d.due_at <= now()
           order by d.due_at limit v_take for update skip locked
        ), taken as (
          update webhook_deliveries d
             set lease_owner = p ->> 'worker', attempts = d.attempts + 1, tries = d.tries + 1,
                 due_at = now() + (p ->> 'lease_ms')::integer * interval '1 millisecond'
            from due where d.id = due.id
          returning d.*
        )
        select t.id, t.attempts, t.tries, t.event_id, v.type, v.data, v.created_at, t.created_at, t.account_id,
               t.endpoint_id, coalesce(e.url, t.url), e.secret, case when e.previous_until > now() then e.previous_secret end,
               v_receiver.is_quick, t.expires_at <= now()
          from taken t join webhook_events v on v.id = t.event_id
          -- Without endpoints that were removed since the check above: their secrets are gone.
          join webhook_endpoints e on e.id = t.endpoint_id and e.removed_at is null;
      get diagnostics v_take = row_count;
      v_left := v_left - v_take;
      if not v_receiver.is_quick then v_slow_left := v_slow_left - v_take; end if;
    end if;
    update webhook_receivers
       set next_due_at = next_webhook_due(v_receiver.id, v_receiver.resting_until, '500 milliseconds') where id = v_receiver.id;
  end loop;
end $$;
