-- Accepts several polls of one account, lane and key as accept_poll would one after the other. If any of them cannot be
-- accepted, returns null and leaves nothing behind; accept_poll then finds each poll's outcome.
-- p: an array of accept_poll's arguments with the same limits and ceiling, without repeated keys and free polls.
-- Returns how many polls of the tenant waited for a worker before the first one.
create or replace function accept_polls(p jsonb) returns integer
language plpgsql security definer set search_path = public, pg_temp
-- As in accept_poll.
set plan_cache_mode = force_generic_plan set enable_sort = off as $$
#variable_conflict use_column
declare
  v_first constant jsonb := p -> 0;
  v_polls constant integer := jsonb_array_length(p);
  v_account constant uuid := (v_first ->> 'account_id')::uuid;
  v_tenant constant text := v_first ->> 'tenant';
  v_lane constant text := v_first ->> 'lane';
  v_key_id constant uuid := (v_first ->> 'key_id')::uuid;
  v_max_running constant integer := (v_first ->> 'max_running')::integer;
  v_max_of_key constant integer := (v_first ->> 'max_running_of_key')::integer;
  v_hour_cap_u constant bigint := (v_first #>> '{spend,hour_cap_u}')::bigint;
  v_day_cap_u constant bigint := (v_first #>> '{spend,day_cap_u}')::bigint;
  v_some_shard constant smallint := floor(random() * 16);
  v_first_id constant text := month_ids(now() - interval '3 days');
  v_next_id constant text := month_ids(date_trunc('month', now() + interval '1 day', 'UTC') + interval '32 days');
  v_keys integer;
  v_hold_u bigint;
  v_reserve_u bigint;
  v_max_waiting integer;
  v_stored integer;
  v_is_open boolean;
  v_is_near boolean;
  v_running integer;
  v_of_key integer;
  v_waiting integer;
  v_is_limited boolean;
  v_shard smallint;
begin
  select count(*) filter (where e ? 'key'), sum((e ->> 'hold_u')::bigint), sum((e #>> '{spend,reserve_u}')::bigint),
         -- Earlier polls of this call wait ahead of later ones.
         min((e ->> 'max_waiting')::integer - place + 1)
    into v_keys, v_hold_u, v_reserve_u, v_max_waiting
    from jsonb_array_elements(p) with ordinality as given (e, place)
  -- Otherwise a hold is above its max_cost_u; accept_poll then reports the error.
  having bool_and((e ->> 'hold_u')::bigint <= greatest((e #>> '{spec,max_cost_u}')::bigint, 1));
  if not found then
    return null;
  end if;

  -- A refusal rolls back to this point. Locks are taken in the order of accept_poll.
  begin
    if v_keys > 0 then
      -- Sorted, because calls with the same keys wait for each other.
      insert into idempotency (principal, entry_point, key, fingerprint, poll_id, expires_at)
      select e ->> 'principal', e ->> 'entry_point', e ->> 'key', e ->> 'fingerprint', e ->> 'id', now() + interval '24 hours'
        from jsonb_array_elements(p) e where e ? 'key'
       order by 1, 2, 3
          on conflict do nothing;
      get diagnostics v_stored = row_count;
      if v_stored < v_keys then
        raise exception 'a key is known' using errcode = 'EP010';
      end if;
    end if;

    select not c.polls_stopped and a.is_open,
           v_reserve_u is not null and not exists (
             select from provider_spend
              where shard = v_some_shard
                and case when hour = date_trunc('hour', now(), 'UTC') then hour_u else 0 end + v_reserve_u <= v_hour_cap_u / 16
                and case when day = (now() at time zone 'utc')::date then day_u else 0 end + v_reserve_u <= v_day_cap_u / 16)
      into v_is_open, v_is_near
      from controls c
      left join (select true as is_open from accounts
                  where id = v_account and frozen_at is null and deleted_at is null and moving_at is null
                    for key share) a on true;
    if v_is_open is not true then
      raise exception 'polls or the account are stopped' using errcode = 'EP010';
    end if;

    if not pg_try_advisory_xact_lock(hashtextextended(v_tenant, 0)) then
      perform pg_advisory_xact_lock(hashtextextended(v_tenant, 0));
    end if;
    select count(*) filter (where batch_id is null), count(*) filter (where key_id = v_key_id), count(*) filter (where lease_owner is null),
           exists (select from key_limits where key_id = v_key_id)
      into v_running, v_of_key, v_waiting, v_is_limited
      from (select key_id, lease_owner, batch_id from polls
             where tenant >= v_tenant and tenant <= v_tenant and lane >= v_lane and lane <= v_lane and status = 'running'
               and id >= v_first_id and id < v_next_id
             order by tenant, lane limit v_max_running
               + (select coalesce(sum(b.running), 0) from batches b
                   where v_lane = 'flex' and b.account_id = v_account and b.status in ('running', 'canceling'))) r;
    if v_running + v_polls > v_max_running or v_of_key + v_polls > v_max_of_key or v_waiting > v_max_waiting then
      raise exception 'the tenant has too many polls' using errcode = 'EP010';
    end if;

    if v_is_near and spend_wait(v_reserve_u, v_hour_cap_u, v_day_cap_u) is not null then
      raise exception 'the ceiling of provider spend is reached' using errcode = 'EP010';
    end if;
    if v_is_limited and not take_key_limit(v_account, v_key_id, v_hold_u) then
      raise exception 'the limit of the key is reached' using errcode = 'EP010';
    end if;

    update balances set held_u = held_u + v_hold_u
     where account_id = v_account and posted_u - held_u - reserved_u - held_back_u >= v_hold_u and not allow_negative;
    if not found then
      raise exception 'the balance is too small' using errcode = 'EP010';
    end if;
    insert into transfers (idem, kind, debit, credit, amount_u, poll_id)
    select 'hold:' || (e ->> 'id'), 'hold', v_account, '00000000-0000-4000-8000-000000000002', (e ->> 'hold_u')::bigint, e ->> 'id'
      from jsonb_array_elements(p) e;

    -- The last lock, because polls of other payers share the row.
    if v_reserve_u is not null then
      select shard into v_shard from take_spend(v_reserve_u, v_hour_cap_u, v_day_cap_u);
      if v_shard is null then
        raise exception 'the ceiling of provider spend is reached' using errcode = 'EP010';
      end if;
    end if;
    perform insert_poll(p, v_shard);
  exception when sqlstate 'EP010' then
    return null;
  end;
  return v_waiting;
end $$;
