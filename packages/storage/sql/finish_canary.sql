-- Records the cost and outcome of a test; passed is null if the model did not answer.
-- p: model_id, kind, passed, claimed_at, max_u, cost_u, and spend_shard if the test counts as provider spend.
create or replace function finish_canary(p jsonb) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_claimed_at constant timestamptz := (p ->> 'claimed_at')::timestamptz;
  v_max_u constant bigint := (p ->> 'max_u')::bigint;
  v_cost_u constant bigint := (p ->> 'cost_u')::bigint;
  v_passed constant boolean := (p ->> 'passed')::boolean;
  v_returns integer;
begin
  -- In the lock order of claim_canary: the model's row, then the rows that tests share.
  if v_passed is not null then
    update model_standings
       set passes = case when failed is distinct from p ->> 'kind' then passes when v_passed then passes + 1 else 0 end
     where model_id = p ->> 'model_id'
    returning returns into v_returns;
    insert into canary_results as r (model_id, kind, returns, day, tests, failures)
    values (p ->> 'model_id', p ->> 'kind', v_returns, (now() at time zone 'utc')::date, 1, (not v_passed)::integer)
    on conflict (model_id, kind, returns, day) do update
       set tests = r.tests + 1, failures = r.failures + (not v_passed)::integer;
  end if;
  update canary_days set cost_u = cost_u + v_cost_u - v_max_u where day = (v_claimed_at at time zone 'utc')::date;
  if p ->> 'spend_shard' is not null then
    perform settle_spend((p ->> 'spend_shard')::smallint, v_claimed_at, v_max_u, v_cost_u);
  end if;
end $$;
