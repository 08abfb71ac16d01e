-- Null if a poll for which providers may charge p_reserve_u fits under the ceilings; otherwise the seconds to wait:
-- until the hour or UTC day is over, or a few if running polls hold the missing amount.
create or replace function spend_wait(p_reserve_u bigint, p_hour_cap_u bigint, p_day_cap_u bigint) returns integer
language sql as $$
  select case
    when hour_u + p_reserve_u <= p_hour_cap_u and day_u + p_reserve_u <= p_day_cap_u then null
    when day_u - day_held_u + p_reserve_u > p_day_cap_u
      then ceil(extract(epoch from date_trunc('day', now(), 'UTC') + interval '1 day' - now()))::integer
    when hour_u - hour_held_u + p_reserve_u > p_hour_cap_u
      then ceil(extract(epoch from date_trunc('hour', now(), 'UTC') + interval '1 hour' - now()))::integer
    -- Spread the retries of waiting callers.
    else 1 + floor(random() * 5)::integer end
    from (select coalesce(sum(hour_u) filter (where hour >= date_trunc('hour', now(), 'UTC')), 0) as hour_u,
                 coalesce(sum(hour_held_u) filter (where hour >= date_trunc('hour', now(), 'UTC')), 0) as hour_held_u,
                 coalesce(sum(day_u) filter (where day >= (now() at time zone 'utc')::date), 0) as day_u,
                 coalesce(sum(day_held_u) filter (where day >= (now() at time zone 'utc')::date), 0) as day_held_u
            from provider_spend) s
$$;
