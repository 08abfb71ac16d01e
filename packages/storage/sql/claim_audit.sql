-- Takes the next audit and, if models have to be asked, sets money aside for it. Jobs take turns by a hash, and wait until
-- there is money for asking the whole panel, even if fewer models are left to ask or none. So it depends on nothing that
-- a poll's result can influence which audits are made when money or time is short. outcome:
--   claimed   the worker may ask the remaining models; epoch identifies the attempt
--   stored    no more votes were needed
--   none      nothing is due
--   capped    the audit pool has spent its daily maximum, or the ceiling of provider spend is near
--   deleted, expired, given_up   the audit is not made: its poll was deleted, a day has passed, or workers died
-- p: worker, lease_ms, max_attempts, day_cap_u; with a ceiling of provider spend also hour_spend_u and day_spend_u.
create or replace function claim_audit(p jsonb)
returns table (outcome text, poll_id text, epoch integer, roster_version text, panel_models text[], heard jsonb, spec jsonb)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  v_pool constant uuid := '00000000-0000-4000-8000-000000000006';
  v_hour_u constant bigint := (p ->> 'hour_spend_u')::bigint;
  v_day_u constant bigint := (p ->> 'day_spend_u')::bigint;
  v_max_attempts constant integer := (p ->> 'max_attempts')::integer;
  v_job audit_jobs;
  v_available_u bigint;
  v_space_u bigint;
  v_shard smallint;
  v_hold text;
  v_settles boolean := false;
begin
  -- Money is locked before jobs, and a job that another process has locked is passed over.
  perform 1 from audit_jobs where lease_until <= now() limit 1;
  if not found then
    return query select 'none', null::text, null::integer, null::text, null::text[], null::jsonb, null::jsonb;
    return;
  end if;
  perform top_up_pool(v_pool, 'audit_pool', (p ->> 'day_cap_u')::bigint);
  select posted_u - held_u into v_available_u from balances where account_id = v_pool for no key update;

  select * into v_job from audit_jobs j
   where j.lease_until <= now() and (j.created_at < now() - interval '1 day' or j.lease_epoch >= v_max_attempts)
   order by j.created_at limit 1 for update skip locked;
  if found then
    perform drop_audit(v_job.poll_id);
    return query select case when is_forgotten(v_job.poll_id) then 'deleted'
                             when v_job.created_at < now() - interval '1 day' then 'expired' else 'given_up' end,
      v_job.poll_id, null::integer, v_job.roster_version, null::text[], null::jsonb, null::jsonb;
    return;
  end if;
  -- What is left under the ceilings is summed once, and not by spend_wait for each waiting job.
  if p ? 'hour_spend_u' then
    select least(v_hour_u - coalesce(sum(hour_u) filter (where hour >= date_trunc('hour', now(), 'UTC')), 0),
                 v_day_u - coalesce(sum(day_u) filter (where day >= (now() at time zone 'utc')::date), 0))
      into v_space_u from provider_spend;
  end if;
  select * into v_job from audit_jobs j
   where j.lease_until <= now() and greatest(j.panel_u, j.max_u, 1) <= v_available_u
     and (v_space_u is null or greatest(j.panel_u, j.max_u) <= v_space_u)
   order by md5(j.poll_id) limit 1 for update skip locked;
  if not found then
    return query select 'capped', null::text, null::integer, null::text, null::text[], null::jsonb, null::jsonb;
    return;
  end if;
  if is_forgotten(v_job.poll_id) then
    perform drop_audit(v_job.poll_id);
    return query select 'deleted', v_job.poll_id, null::integer, v_job.roster_version, null::text[], null::jsonb, null::jsonb;
    return;
  elsif not v_job.needs_votes then
    delete from audit_jobs j where j.poll_id = v_job.poll_id;
    perform store_audit(v_job, jsonb_build_object('models', '[]'::jsonb, 'votes', '[]'::jsonb,
      'winner', v_job.heard -> 'winner', 'cost_u', 0));
    return query select 'stored', v_job.poll_id, null::integer, v_job.roster_version, null::text[], null::jsonb, null::jsonb;
    return;
  end if;

  if v_job.lease_epoch > 0 then
    v_settles := ledger_resolve('hold:audit:' || v_job.poll_id || ':' || v_job.lease_epoch, v_job.max_u);
  end if;
  if v_settles and v_job.spend_shard is not null then
    -- As settle_audit does. Two rows of provider_spend may be needed: all are locked in order, after the ledger's.
    perform 1 from provider_spend order by shard for update;
    perform settle_spend(v_job.spend_shard, v_job.held_at, v_job.max_u, v_job.max_u);
  end if;
  v_hold := 'hold:audit:' || v_job.poll_id || ':' || v_job.lease_epoch + 1;
  if not ledger_hold(v_pool, greatest(v_job.max_u, 1), v_hold, null) then
    v_hold := null;
  elsif p ? 'hour_spend_u' then
    select s.shard into v_shard from take_spend(v_job.max_u, v_hour_u, v_day_u) s;
    if v_shard is null then
      -- Others have used up the ceiling since the check above.
      perform ledger_resolve(v_hold, 0);
      v_hold := null;
    end if;
  end if;
  update audit_jobs j
     set lease_owner = p ->> 'worker', lease_epoch = j.lease_epoch + 1, held_at = now(), spend_shard = v_shard,
         lease_until = now() + (p ->> 'lease_ms')::integer * interval '1 millisecond'
   where j.poll_id = v_job.poll_id;
  if v_hold is null then
    return query select 'capped', v_job.poll_id, null::integer, v_job.roster_version, null::text[], null::jsonb, null::jsonb;
    return;
  end if;
  return query
    select 'claimed', v_job.poll_id, v_job.lease_epoch + 1, v_job.roster_version, r.models, v_job.heard, q.spec
      from roster_versions r, polls q where r.version = v_job.roster_version and q.id = v_job.poll_id;
end $$;
