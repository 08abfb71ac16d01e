-- Replaces what was set aside for a poll by what providers charged, in the hour and day of its acceptance, or for a
-- flex poll of its first claim.
create or replace function settle_spend(p_shard smallint, p_accepted_at timestamptz, p_reserve_u bigint, p_spent_u bigint)
returns void language sql as $$
  update provider_spend
     set hour_u = hour_u + case when hour = date_trunc('hour', p_accepted_at, 'UTC') then p_spent_u - p_reserve_u else 0 end,
         hour_held_u = hour_held_u - case when hour = date_trunc('hour', p_accepted_at, 'UTC') then p_reserve_u else 0 end,
         day_u = day_u + case when day = (p_accepted_at at time zone 'utc')::date then p_spent_u - p_reserve_u else 0 end,
         day_held_u = day_held_u - case when day = (p_accepted_at at time zone 'utc')::date then p_reserve_u else 0 end
   where shard = p_shard
$$;
