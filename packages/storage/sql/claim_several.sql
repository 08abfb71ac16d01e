-- Claims several polls for one worker as claim_poll_again does for each. It waits for no poll, so it cannot deadlock: a
-- poll that is locked or cannot be claimed gets no row, and claim_poll_again can wait for it. Money for flex polls is
-- set aside here for all of them; if that does not fit under the ceilings (null: none), for none.
create or replace function claim_several(p_ids text[], p_worker text, p_lease_ms integer, p_schema integer, p_max_claims integer,
  p_hour_cap_u bigint, p_day_cap_u bigint)
returns table (id text, result_id text, account_id uuid, tenant text, awaited boolean, lease_epoch integer, claims integer,
  spec jsonb, schema_version smallint, entry_point text, request_id text, traceparent text, audit_version text,
  canceled_at timestamptz, created_at timestamptz, deadline_at timestamptz, run_until timestamptz)
language plpgsql security definer set search_path = public, pg_temp
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  -- Bounds that name the months to search; the planner cannot derive them from an array.
  v_first constant text := (select min(wanted collate "C") from unnest(p_ids) wanted);
  v_last constant text := (select max(wanted collate "C") from unnest(p_ids) wanted);
  v_free text[];
  v_unreserved text[];
  v_reserve_u bigint;
  v_shard smallint;
begin
  select array_agg(free.id), array_agg(free.id) filter (where free.reserve_u > 0), sum(free.reserve_u)
    into v_free, v_unreserved, v_reserve_u
    from (select p.id, case when p.lane = 'flex' and p.spend_shard is null and p_hour_cap_u is not null
                             and p.canceled_at is null and p.deadline_at > now() then p.provider_max_u end as reserve_u
            from polls p
           where p.id = any(p_ids) and p.id >= v_first and p.id <= v_last
             and p.finished_at is null and (p.lease_epoch = 0 or p.spend_shard is null)
             and (p.lease_owner is null or p.lease_until < now()) and p.schema_version <= p_schema and p.claims < p_max_claims
             for no key update skip locked) free;
  if v_reserve_u > 0 then
    -- The last locks. Check first: at the ceiling, every waiting flex poll gets here again and again.
    if spend_wait(v_reserve_u, p_hour_cap_u, p_day_cap_u) is null then
      select shard into v_shard from take_spend(v_reserve_u, p_hour_cap_u, p_day_cap_u);
    end if;
    if v_shard is null then
      v_free := array(select one from unnest(v_free) one where one <> all(v_unreserved));
    end if;
  end if;
  return query
  update polls p
     set lease_epoch = p.lease_epoch + 1, lease_owner = p_worker, claims = p.claims + 1,
         lease_until = now() + p_lease_ms * interval '1 millisecond',
         run_until = now() + p.run_limit_ms * interval '1 millisecond',
         spend_shard = case when p.id = any(v_unreserved) then v_shard else p.spend_shard end,
         spend_at = case when p.id = any(v_unreserved) then now() else p.spend_at end
   where p.id = any(v_free) and p.id >= v_first and p.id <= v_last
  returning p.id, p.result_id, p.account_id, p.tenant, p.awaited, p.lease_epoch, p.claims, p.spec, p.schema_version,
            p.entry_point, p.request_id, p.traceparent, p.audit_version, p.canceled_at, p.created_at, p.deadline_at, p.run_until;
end $$;
