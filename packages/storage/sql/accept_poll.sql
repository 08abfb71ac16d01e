-- Stores idempotency key, hold and poll row together, or leaves nothing behind.
--   accepted      the poll exists now (also if an earlier call created it and its answer was lost)
--   joined        the key belongs to poll_id, accepted earlier with the same body
--   reused        the key was used with another body
--   too_many      the tenant has max_running unended polls in this lane, not counting those of batches
--   too_many_of_key  the same for the API key, with max_running_of_key
--   too_late      more than max_waiting polls of the tenant wait for a worker: this poll could not start in time
--   over_ceiling  providers may not charge the fleet more in this hour or day; retry_after_s says when to try again
--   frozen        an operator froze or closed the account
--   stopped       operators have stopped all polls, or free polls
--   key_limit     the API key has a limit, and the hold does not fit into what is left of it
--   insufficient  the account cannot cover the hold; settling_u more is held back until its payment has settled. For
--                 the free pool, retry_after_s is the time until midnight if it is spent, or a few seconds if running
--                 polls hold the rest
-- Each statement below sees what others committed while the previous one waited. So the loser of a race for a key can
-- read the winner's poll in the same call.
create or replace function accept_poll(p jsonb)
returns table (outcome text, poll_id text, available_u bigint, retry_after_s integer, running integer, waiting integer,
  settling_u bigint)
language plpgsql security definer set search_path = public, pg_temp
-- Statements find rows by key: a generic plan prunes to one month at run time, and need not be made each time.
set plan_cache_mode = force_generic_plan
-- Running polls are counted in the order of the tenant's index. With the statistics of a quiet hour, reading and
-- sorting the running polls of all tenants looks as cheap; with sorting disabled it does not.
set enable_sort = off as $$
#variable_conflict use_column
declare
  v_id constant text := p ->> 'id';
  v_account uuid := (p ->> 'account_id')::uuid;
  v_payer uuid := v_account;
  v_principal constant text := p ->> 'principal';
  v_entry_point constant text := p ->> 'entry_point';
  v_key constant text := p ->> 'key';
  v_fingerprint constant text := p ->> 'fingerprint';
  v_known idempotency;
  v_available_u bigint;
  v_settling_u bigint;
  v_posted_u bigint;
  v_tenant constant text := p ->> 'tenant';
  v_lane constant text := coalesce(p ->> 'lane', 'standard');
  v_key_id constant uuid := (p ->> 'key_id')::uuid;
  v_running integer := 0;
  v_of_key integer := 0;
  v_waiting integer := 0;
  v_refusal text;
  v_shard smallint;
  v_retry_s integer;
  v_is_there boolean;
  v_is_stopped boolean;
  v_is_open boolean;
  v_is_limited boolean;
  v_is_near boolean;
  v_some_shard constant smallint := floor(random() * 16);
  v_first_id text;
  v_next_id text;
  v_reserve_u constant bigint := (p #>> '{spend,reserve_u}')::bigint;
  v_hour_cap_u constant bigint := (p #>> '{spend,hour_cap_u}')::bigint;
  v_day_cap_u constant bigint := (p #>> '{spend,day_cap_u}')::bigint;
begin
  if v_key is not null then
    insert into idempotency as i (principal, entry_point, key, fingerprint, poll_id, expires_at)
    values (v_principal, v_entry_point, v_key, v_fingerprint, v_id, now() + interval '24 hours')
    on conflict (principal, entry_point, key) do update
      set fingerprint = excluded.fingerprint, poll_id = excluded.poll_id, claim = null, claimed_until = null,
          response = null, created_at = now(), expires_at = excluded.expires_at
      where i.expires_at <= now();
    if not found then
      select * into v_known from idempotency i
       where i.principal = v_principal and i.entry_point = v_entry_point and i.key = v_key;
      if not found then
        raise exception 'the key was pruned meanwhile' using errcode = '40001';
      elsif v_known.fingerprint <> v_fingerprint or v_known.poll_id is null then
        return query select 'reused', null::text, null::bigint, null::integer, null::integer, null::integer, null::bigint;
        return;
      elsif v_known.poll_id <> v_id then
        return query select 'joined', v_known.poll_id, null::bigint, null::integer, null::integer, null::integer, null::bigint;
        return;
      end if;
    end if;
  end if;

  -- Checks whether the poll was accepted before, and all refusals that need no further locks. Freezing and moving wait
  -- for this lock of the account's row. If one random row of provider_spend is full, the ceiling may be near.
  select exists (select from polls where id = v_id),
         c.polls_stopped or (c.free_polls_stopped and p ? 'free_daily_cap_u'), a.is_open,
         p ? 'spend' and not exists (
           select from provider_spend
            where shard = v_some_shard
              and case when hour = date_trunc('hour', now(), 'UTC') then hour_u else 0 end + v_reserve_u <= v_hour_cap_u / 16
              and case when day = (now() at time zone 'utc')::date then day_u else 0 end + v_reserve_u <= v_day_cap_u / 16)
    into v_is_there, v_is_stopped, v_is_open, v_is_near
    from controls c
    left join (select true as is_open from accounts
                where id = v_account and frozen_at is null and deleted_at is null and moving_at is null
                  for key share) a on true;
  if v_is_there then
    return query select 'accepted', v_id, null::bigint, null::integer, v_running, v_waiting, null::bigint;
    return;
  end if;
  if v_is_stopped or (v_account is not null and v_is_open is null) then
    if not v_is_stopped then
      perform refuse_moved(v_account);
    end if;
    delete from idempotency i
     where i.principal = v_principal and i.entry_point = v_entry_point and i.key = v_key and i.poll_id = v_id;
    return query select case when v_is_stopped then 'stopped' else 'frozen' end, null::text, null::bigint, null::integer,
      null::integer, null::integer, null::bigint;
    return;
  end if;

  -- The lock makes the counts exact: a tenant's polls are accepted one after the other.
  if p ? 'max_running' then
    if not pg_try_advisory_xact_lock(hashtextextended(v_tenant, 0)) then
      perform pg_advisory_xact_lock(hashtextextended(v_tenant, 0));
    end if;
    v_first_id := month_ids(now() - interval '3 days');
    v_next_id := month_ids(date_trunc('month', now() + interval '1 day', 'UTC') + interval '32 days');
    -- Whether the key has a limit is read after its account's row was locked, which setting a limit locks too.
    -- Polls of batches do not count towards the account's maximum, but they wait ahead of this poll all the same.
    select count(*) filter (where batch_id is null), count(*) filter (where key_id = v_key_id), count(*) filter (where lease_owner is null),
           exists (select from key_limits where key_id = v_key_id)
      into v_running, v_of_key, v_waiting, v_is_limited
      from (select key_id, lease_owner, batch_id from polls
             where tenant >= v_tenant and tenant <= v_tenant and lane >= v_lane and lane <= v_lane and status = 'running'
               -- Only months that can contain running polls.
               and id >= v_first_id and id < v_next_id
             order by tenant, lane limit (p ->> 'max_running')::integer
               + (select coalesce(sum(b.running), 0) from batches b
                   where v_lane = 'flex' and b.account_id = v_account and b.status in ('running', 'canceling'))) r;
    v_refusal := case
      when v_running >= (p ->> 'max_running')::integer then 'too_many'
      when v_of_key >= (p ->> 'max_running_of_key')::integer then 'too_many_of_key'
      when v_waiting > (p ->> 'max_waiting')::integer then 'too_late'
    end;
    if v_refusal is not null then
      -- A repeated call for this same poll may have waited for the lock of the first call.
      perform 1 from polls where id = v_id;
      if found then
        return query select 'accepted', v_id, null::bigint, null::integer, v_running, v_waiting, null::bigint;
        return;
      end if;
      delete from idempotency i
       where i.principal = v_principal and i.entry_point = v_entry_point and i.key = v_key and i.poll_id = v_id;
      return query select v_refusal, null::text, null::bigint, null::integer,
        case v_refusal when 'too_many_of_key' then v_of_key else v_running end, v_waiting, null::bigint;
      return;
    end if;
  elsif v_key_id is not null then
    v_is_limited := exists (select from key_limits where key_id = v_key_id);
  end if;

  -- Before anything is written, because at the ceiling every caller gets here.
  if v_is_near then
    v_retry_s := spend_wait(v_reserve_u, v_hour_cap_u, v_day_cap_u);
    if v_retry_s is not null then
      raise exception 'the ceiling of provider spend is reached' using errcode = 'EP006', detail = v_retry_s;
    end if;
  end if;

  if (p ->> 'hold_u')::bigint > greatest((p #>> '{spec,max_cost_u}')::bigint, 1) then
    raise exception 'the hold of % is above its max_cost_u', v_id using errcode = 'EP003';
  end if;
  if p ? 'free_daily_cap_u' then
    v_payer := '00000000-0000-4000-8000-000000000001';
    perform top_up_pool(v_payer, 'free_pool', (p ->> 'free_daily_cap_u')::bigint);
  end if;

  if v_is_limited and v_payer = v_account and not take_key_limit(v_account, v_key_id, (p ->> 'hold_u')::bigint) then
    perform 1 from polls where id = v_id;
    if found then
      return query select 'accepted', v_id, null::bigint, null::integer, v_running, v_waiting, null::bigint;
      return;
    end if;
    delete from idempotency i
     where i.principal = v_principal and i.entry_point = v_entry_point and i.key = v_key and i.poll_id = v_id;
    return query select 'key_limit', null::text, null::bigint, null::integer, null::integer, null::integer, null::bigint;
    return;
  end if;

  if not ledger_hold(v_payer, (p ->> 'hold_u')::bigint, 'hold:' || v_id, v_id) then
    if v_is_limited and v_payer = v_account then
      perform settle_key_limit(v_key_id, (p ->> 'hold_u')::bigint, 0);
    end if;
    perform 1 from polls where id = v_id;
    if found then
      return query select 'accepted', v_id, null::bigint, null::integer, v_running, v_waiting, null::bigint;
      return;
    end if;
    delete from idempotency i
     where i.principal = v_principal and i.entry_point = v_entry_point and i.key = v_key and i.poll_id = v_id;
    select posted_u - held_u - reserved_u - held_back_u, posted_u, held_back_u into v_available_u, v_posted_u, v_settling_u
      from balances where account_id = v_payer;
    return query select 'insufficient', null::text, coalesce(v_available_u, 0),
      case when not p ? 'free_daily_cap_u' then null
        -- Spread the retries of waiting callers.
        when v_posted_u >= (p ->> 'hold_u')::bigint then 1 + floor(random() * 5)::integer
        else ceil(extract(epoch from date_trunc('day', now(), 'UTC') + interval '1 day' - now()))::integer
      end, null::integer, null::integer, coalesce(v_settling_u, 0);
    return;
  end if;

  -- The last lock, because polls of other payers share the row.
  if p ? 'spend' then
    select shard, retry_after_s into v_shard, v_retry_s from take_spend(v_reserve_u, v_hour_cap_u, v_day_cap_u);
    if v_shard is null then
      raise exception 'the ceiling of provider spend is reached' using errcode = 'EP006', detail = v_retry_s;
    end if;
  end if;

  perform insert_poll(p, v_shard);
  return query select 'accepted', v_id, null::bigint, null::integer, v_running, v_waiting, null::bigint;
end $$;
