-- Claims the model whose test has been due longest and sets the maximum cost of the test aside. No row if none is due,
-- the daily cap is reached, or providers already charge the fleet too much. A worker that dies loses one test.
-- p: models (those of the roster file, each with id and max_u), every_ms, failed_every_ms, day_cap_u; with a ceiling of
-- provider spend also hour_spend_u and day_spend_u.
create or replace function claim_canary(p jsonb)
returns table (model_id text, number integer, failed text, claimed_at timestamptz, spend_shard smallint)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  v_day constant date := (now() at time zone 'utc')::date;
  v model_standings;
  v_max_u bigint;
  v_number integer;
  v_shard smallint;
begin
  insert into model_standings (model_id, next_at)
  select m ->> 'id', now() + random() * (p ->> 'every_ms')::double precision * interval '1 millisecond'
    from jsonb_array_elements(p -> 'models') m
  on conflict do nothing;
  select s.* into v from model_standings s
   where s.next_at <= now() and s.model_id in (select m ->> 'id' from jsonb_array_elements(p -> 'models') m)
   order by s.next_at limit 1 for update skip locked;
  if not found then
    return;
  end if;
  select (m ->> 'max_u')::bigint into v_max_u from jsonb_array_elements(p -> 'models') m where m ->> 'id' = v.model_id;

  update model_standings s
     set next_at = now() + case when v.failed is null then (p ->> 'every_ms')::integer
                                else (p ->> 'failed_every_ms')::integer end * (0.8 + 0.4 * random()) * interval '1 millisecond'
   where s.model_id = v.model_id;
  if p ? 'hour_spend_u'
     and spend_wait(v_max_u, (p ->> 'hour_spend_u')::bigint, (p ->> 'day_spend_u')::bigint) is not null then
    return;
  end if;
  insert into canary_days as d (day, tests, cost_u)
  select v_day, 1, v_max_u where v_max_u <= (p ->> 'day_cap_u')::bigint
  on conflict (day) do update set tests = d.tests + 1, cost_u = d.cost_u + v_max_u
   where d.cost_u + v_max_u <= (p ->> 'day_cap_u')::bigint
  returning tests into v_number;
  if v_number is null then
    return;
  end if;
  if p ? 'hour_spend_u' then
    select s.shard into v_shard
      from take_spend(v_max_u, (p ->> 'hour_spend_u')::bigint, (p ->> 'day_spend_u')::bigint) s;
    -- Others may have used the rest since it was checked above.
    if v_shard is null then
      update canary_days set tests = tests - 1, cost_u = cost_u - v_max_u where day = v_day;
      return;
    end if;
  end if;
  return query select v.model_id, v_number, v.failed, now(), v_shard;
end $$;
