-- Sets aside what providers may charge for a poll, within the ceilings per hour and UTC day. A poll counts in the hour
-- and day of its acceptance, a flex poll in those of its first claim. The sum is spread over the rows of
-- provider_spend: usually one row has enough left of its share; otherwise all are locked in order, summed and levelled.
-- shard is null if the ceiling is reached; retry_after_s then says when to try again, see spend_wait. If an hour or day
-- began in a row while this transaction waited for its lock, the poll counts in that one.
create or replace function take_spend(p_reserve_u bigint, p_hour_cap_u bigint, p_day_cap_u bigint)
returns table (shard smallint, retry_after_s integer) language plpgsql as $$
#variable_conflict use_column
declare
  v_hour timestamptz := date_trunc('hour', now(), 'UTC');
  v_day date := (now() at time zone 'utc')::date;
  v_shards constant integer := 16;
  v_shard constant smallint := floor(random() * v_shards);
  v_wait_s integer;
  v record;
begin
  begin
    update provider_spend
       set hour_u = case when hour >= v_hour then hour_u else 0 end + p_reserve_u,
           hour_held_u = case when hour >= v_hour then hour_held_u else 0 end + p_reserve_u,
           day_u = case when day >= v_day then day_u else 0 end + p_reserve_u,
           day_held_u = case when day >= v_day then day_held_u else 0 end + p_reserve_u,
           hour = greatest(hour, v_hour), day = greatest(day, v_day)
     where shard = v_shard
       and case when hour >= v_hour then hour_u else 0 end + p_reserve_u <= p_hour_cap_u / v_shards
       and case when day >= v_day then day_u else 0 end + p_reserve_u <= p_day_cap_u / v_shards;
    if found then
      return query select v_shard, null::integer;
      return;
    end if;
    raise exception 'the share of this row is used up' using errcode = 'EP011';
  exception when sqlstate 'EP011' then
    -- An update that waited, and then found the row full, still has its lock, out of order. Rolling back releases it.
    null;
  end;

  perform 1 from provider_spend order by shard for update;
  v_wait_s := spend_wait(p_reserve_u, p_hour_cap_u, p_day_cap_u);
  if v_wait_s is not null then
    return query select null::smallint, v_wait_s;
    return;
  end if;
  select greatest(v_hour, max(hour)), greatest(v_day, max(day)) into v_hour, v_day from provider_spend;
  select coalesce(sum(hour_u) filter (where hour = v_hour), 0)::bigint as hour_u,
         coalesce(sum(hour_held_u) filter (where hour = v_hour), 0)::bigint as hour_held_u,
         coalesce(sum(day_u) filter (where day = v_day), 0)::bigint as day_u,
         coalesce(sum(day_held_u) filter (where day = v_day), 0)::bigint as day_held_u
    into v from provider_spend;
  update provider_spend s
     set hour = v_hour, hour_u = share_of(v.hour_u + p_reserve_u, s.shard, v_shards),
         hour_held_u = share_of(v.hour_held_u + p_reserve_u, s.shard, v_shards),
         day = v_day, day_u = share_of(v.day_u + p_reserve_u, s.shard, v_shards),
         day_held_u = share_of(v.day_held_u + p_reserve_u, s.shard, v_shards);
  return query select v_shard, null::integer;
end $$;
