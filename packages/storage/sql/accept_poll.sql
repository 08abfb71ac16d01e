-- Takes the key, the hold and the poll row together, or leaves nothing behind.
--   accepted      this poll exists now (also when it did before: a retry after a lost answer)
--   joined        the key belongs to poll_id, accepted earlier with the same body
--   reused        the key was used with another body
--   too_many      the tenant has max_running polls of this lane that have not ended
--   too_many_of_key  so has the key that asks, with max_running_of_key
--   too_late      more than max_waiting polls of the tenant wait for a worker: this one could not start in time
--   over_ceiling  providers may not charge the fleet more in this hour or day; retry_after_s says until when
--   frozen        an operator froze or closed the account
--   stopped       operators have stopped polls, or free ones
--   key_limit     the key that asks has a limit, and the hold does not fit into what is left of it
--   insufficient  the account cannot cover the hold; settling_u more is held back until its payment has settled;
--                 retry_after_s is set for the free pool:
--                 until midnight when it is spent, a few seconds when running polls hold what is left
-- Each statement below sees what others committed while the one before it waited; that is what lets a loser of the
-- race for a key read the winner's poll in the same call.
create or replace function accept_poll(p jsonb)
returns table (outcome text, poll_id text, available_u bigint, retry_after_s integer, running integer, waiting integer,
  settling_u bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
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

  perform 1 from polls where id = v_id;
  if found then
    return query select 'accepted', v_id, null::bigint, null::integer, v_running, v_waiting, null::bigint;
    return;
  end if;

  perform 1 from controls where polls_stopped or (free_polls_stopped and p ? 'free_daily_cap_u');
  if found then
    delete from idempotency i
     where i.principal = v_principal and i.entry_point = v_entry_point and i.key = v_key and i.poll_id = v_id;
    return query select 'stopped', null::text, null::bigint, null::integer, null::integer, null::integer, null::bigint;
    return;
  end if;

  -- Freezing locks the row against this: it waits for polls that are being accepted, and then ends them.
  if v_account is not null then
    perform 1 from accounts where id = v_account and frozen_at is null and deleted_at is null for key share;
    if not found then
      delete from idempotency i
       where i.principal = v_principal and i.entry_point = v_entry_point and i.key = v_key and i.poll_id = v_id;
      return query select 'frozen', null::text, null::bigint, null::integer, null::integer, null::integer, null::bigint;
      return;
    end if;
  end if;

  -- The lock makes the counts exact: polls of one tenant are accepted one after the other.
  if p ? 'max_running' then
    perform pg_advisory_xact_lock(hashtextextended(v_tenant, 0));
    select count(*), count(*) filter (where key_id = v_key_id), count(*) filter (where lease_owner is null)
      into v_running, v_of_key, v_waiting
      from (select key_id, lease_owner from polls where tenant = v_tenant and lane = v_lane and status = 'running'
             limit (p ->> 'max_running')::integer) r;
    v_refusal := case
      when v_running >= (p ->> 'max_running')::integer then 'too_many'
      when v_of_key >= (p ->> 'max_running_of_key')::integer then 'too_many_of_key'
      when v_waiting > (p ->> 'max_waiting')::integer then 'too_late'
    end;
    if v_refusal is not null then
      -- A repeat of this very poll may have waited for the lock of the first try.
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
  end if;

  -- Before anything is written, because at the ceiling every caller comes here.
  if p ? 'spend' then
    v_retry_s := spend_wait((p #>> '{spend,reserve_u}')::bigint, (p #>> '{spend,hour_cap_u}')::bigint,
                            (p #>> '{spend,day_cap_u}')::bigint);
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

  if v_payer = v_account and not take_key_limit(v_account, v_key_id, (p ->> 'hold_u')::bigint) then
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
    if v_payer = v_account and v_key_id is not null then
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
        -- Spread, so that those who wait do not come back together.
        when v_posted_u >= (p ->> 'hold_u')::bigint then 1 + floor(random() * 5)::integer
        else ceil(extract(epoch from date_trunc('day', now(), 'UTC') + interval '1 day' - now()))::integer
      end, null::integer, null::integer, coalesce(v_settling_u, 0);
    return;
  end if;

  -- The last lock that is taken, because polls of other payers share the row.
  if p ? 'spend' then
    select shard, retry_after_s into v_shard, v_retry_s
      from take_spend((p #>> '{spend,reserve_u}')::bigint, (p #>> '{spend,hour_cap_u}')::bigint,
                      (p #>> '{spend,day_cap_u}')::bigint);
    if v_shard is null then
      raise exception 'the ceiling of provider spend is reached' using errcode = 'EP006', detail = v_retry_s;
    end if;
  end if;

  perform insert_polls(jsonb_build_array(p), v_shard);
  return query select 'accepted', v_id, null::bigint, null::integer, v_running, v_waiting, null::bigint;
end $$;
