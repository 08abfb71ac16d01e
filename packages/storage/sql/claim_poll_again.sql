-- Gives a running poll that a worker lost or released to p_worker; see claim_poll. What the earlier worker's calls cost
-- is unknown, so the amount set aside for them counts as spent, and the same amount is set aside again. For a flex
-- poll, the amount is first set aside here, at its first claim. No row, too, while it does not fit under the ceilings
-- (null: none). A canceled or overdue poll needs nothing, because it asks no model.
create or replace function claim_poll_again(p_id text, p_worker text, p_lease_ms integer, p_schema integer, p_max_claims integer,
  p_hour_cap_u bigint, p_day_cap_u bigint)
returns table (id text, result_id text, account_id uuid, tenant text, awaited boolean, lease_epoch integer, claims integer,
  spec jsonb, schema_version smallint, entry_point text, request_id text, traceparent text, audit_version text,
  canceled_at timestamptz, created_at timestamptz, deadline_at timestamptz, run_until timestamptz)
language plpgsql security definer set search_path = public, pg_temp
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  v_no_cap constant bigint := 9223372036854775807;
  v_hour_cap_u constant bigint := coalesce(p_hour_cap_u, v_no_cap);
  v_day_cap_u constant bigint := coalesce(p_day_cap_u, v_no_cap);
  v_reserve_u bigint;
  v_claim text;
  v_wait_s integer;
  v_shard smallint;
begin
  -- Null: the poll was accepted without a ceiling, or it has not been claimed yet and its amount is already set aside.
  select case when p.canceled_at is null and p.deadline_at > now() then p.provider_max_u else 0 end,
         case when p.spend_shard is not null and p.lease_epoch > 0 then 'again'
              when p.spend_shard is null and p.lane = 'flex' and p_hour_cap_u is not null then 'first' end
    into v_reserve_u, v_claim
    from polls p
   where p.id = p_id and p.finished_at is null and (p.lease_owner is null or p.lease_until < now())
     and p.schema_version <= p_schema and p.claims < p_max_claims
     for update;
  if not found then
    return;
  end if;
  if v_claim is not null and v_reserve_u > 0 then
    -- Checked before locking: at the ceiling, every lost poll gets here again and again.
    v_wait_s := spend_wait(v_reserve_u, v_hour_cap_u, v_day_cap_u);
    if v_wait_s is null then
      select shard, retry_after_s into v_shard, v_wait_s from take_spend(v_reserve_u, v_hour_cap_u, v_day_cap_u);
    end if;
    if v_shard is null then
      -- No sweep looks for it until then. The wait is short, because the ceiling may be raised.
      update polls p set lease_until = now() + least(v_wait_s, 20 + random() * 20) * interval '1 second'
       where p.id = p_id and v_claim = 'first' and p.lease_owner is null;
      -- The batch is held back, not idle. Skip it if it is locked: the lock's holder updates it and may wait for ours.
      update batches set moved_at = now()
       where id = (select b.id from batches b join polls p on b.id = p.batch_id where p.id = p_id for no key update of b skip locked);
      return;
    end if;
    if v_claim = 'first' then
      update polls p set spend_shard = v_shard, spend_at = now() where p.id = p_id;
    else
      -- One of the two amounts stays held, through the row of the poll.
      perform settle_spend(v_shard, now(), v_reserve_u, v_reserve_u);
    end if;
  end if;
  if v_claim = 'again' then
    update polls p set spend_again_u = coalesce(p.spend_again_u, 0) + v_reserve_u where p.id = p_id;
  end if;
  return query select * from claim_poll(p_id, p_worker, p_lease_ms, p_schema, p_max_claims);
end $$;
