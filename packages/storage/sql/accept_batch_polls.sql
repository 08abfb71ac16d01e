-- Accepts polls of a batch in line order, as far as its reservation covers them: each row gets both its poll and its
-- hold, or neither. Safe to repeat with the same ids. Fenced: only the runner with the batch's current epoch may call.
-- p: batch_id, epoch, spend (hour_cap_u, day_cap_u; only from gateways of the previous release), and polls: an array of
-- line, id, result_id, spec, hold_u, deadline_ms, provider_max_u, entry_point, and the other arguments of insert_poll.
-- Returns a row for each poll:
--   accepted      poll_id is the poll of the line
--   ended         the line has ended without a poll
--   uncovered     the rest of the reservation, or of the balance, does not cover it
--   over_ceiling  providers may not charge the fleet more in this hour or day; retry_after_s says when to try again
--   stopped       operators have stopped polls
--   frozen        an operator froze or closed the account
--   fenced, canceled, expired, over   apply to the whole batch
create or replace function accept_batch_polls(p jsonb)
returns table (line integer, outcome text, poll_id text, retry_after_s integer)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  v_id constant text := p ->> 'batch_id';
  v_account constant uuid := (select account_id from batches where id = v_id);
  v_balance balances;
  v_batch batches;
  v_refusal text;
  v_wait_s integer;
  v_new jsonb;
  -- These bounds keep a plan that expects few rows from reading every row of the batch in each statement.
  v_first integer;
  v_last integer;
  v_shard smallint;
  v_held_u bigint;
  v_left_ms integer;
begin
  perform 1 from controls where polls_stopped;
  v_refusal := case when found then 'stopped' end;
  -- Freezing an account locks this row: it waits for polls that are being accepted, and then ends them.
  perform 1 from accounts where id = v_account and frozen_at is null and deleted_at is null for key share;
  v_refusal := case when found then v_refusal else 'frozen' end;
  select * into v_balance from balances where account_id = v_account for update;
  select * into v_batch from batches where id = v_id for update;
  v_refusal := case
    when v_batch.status is distinct from 'running' and v_batch.status is distinct from 'canceling' then 'over'
    when v_batch.runner_epoch <> (p ->> 'epoch')::integer then 'fenced'
    when v_batch.status = 'canceling' then 'canceled'
    when v_batch.expires_at <= now() then 'expired'
    else v_refusal end;
  if v_refusal is not null then
    return query select (e ->> 'line')::integer, v_refusal, null::text, null::integer from jsonb_array_elements(p -> 'polls') e;
    return;
  end if;
  select min((e ->> 'line')::integer), max((e ->> 'line')::integer) into v_first, v_last from jsonb_array_elements(p -> 'polls') e;

  return query
  select r.line, case when r.poll_id is null then 'ended' else 'accepted' end, r.poll_id, null::integer
    from jsonb_array_elements(p -> 'polls') e join batch_rows r on r.batch_id = v_id and r.line = (e ->> 'line')::integer
   where r.line between v_first and v_last and (r.poll_id is not null or r.outcome is not null);

  select jsonb_agg(e order by line) into v_new
    from (select e, r.line, sum((e ->> 'hold_u')::bigint) over (order by r.line) as upto_u
            from jsonb_array_elements(p -> 'polls') e
            join batch_rows r on r.batch_id = v_id and r.line = (e ->> 'line')::integer
           where r.line between v_first and v_last and r.poll_id is null and r.outcome is null) waiting
   where upto_u <= least(v_batch.reserved_u, v_balance.posted_u - v_balance.held_u) and not v_balance.allow_negative;
  v_refusal := 'uncovered';
  if v_new is not null and p ? 'spend' then
    select shard, retry_after_s into v_shard, v_wait_s
      from take_spend((select sum((e ->> 'provider_max_u')::bigint)::bigint from jsonb_array_elements(v_new) e),
                      (p #>> '{spend,hour_cap_u}')::bigint, (p #>> '{spend,day_cap_u}')::bigint);
    if v_shard is null then
      -- Together they exceed the ceiling; a single one may fit.
      v_refusal := 'over_ceiling';
      v_new := jsonb_build_array(v_new -> 0);
      select shard, retry_after_s into v_shard, v_wait_s
        from take_spend((v_new #>> '{0,provider_max_u}')::bigint,
                        (p #>> '{spend,hour_cap_u}')::bigint, (p #>> '{spend,day_cap_u}')::bigint);
      v_new := case when v_shard is not null then v_new end;
    end if;
  end if;

  if v_new is not null then
    if exists (select from jsonb_array_elements(v_new) e
                where (e ->> 'hold_u')::bigint > greatest((e #>> '{spec,max_cost_u}')::bigint, 1)) then
      raise exception 'a hold of batch % is above its max_cost_u', v_id using errcode = 'EP003';
    end if;
    insert into transfers (idem, kind, debit, credit, amount_u, poll_id)
    select 'hold:' || (e ->> 'id'), 'hold', v_account, '00000000-0000-4000-8000-000000000002', (e ->> 'hold_u')::bigint, e ->> 'id'
      from jsonb_array_elements(v_new) e;
    select sum((e ->> 'hold_u')::bigint) into v_held_u from jsonb_array_elements(v_new) e;
    update balances set reserved_u = reserved_u - v_held_u, held_u = held_u + v_held_u where account_id = v_account;
    update batches
       set reserved_u = reserved_u - v_held_u, running = running + jsonb_array_length(v_new), moved_at = now()
     where id = v_id;
    update batch_rows r set poll_id = e ->> 'id', request = null
      from jsonb_array_elements(v_new) e
     where r.batch_id = v_id and r.line = (e ->> 'line')::integer and r.line between v_first and v_last;
    v_left_ms := extract(epoch from v_batch.expires_at - now()) * 1000;
    perform insert_poll(
      (select jsonb_agg(e || jsonb_build_object(
                'account_id', v_account, 'tenant', v_account::text, 'key_id', v_batch.key_id, 'batch_id', v_id,
                -- A poll that begins just before the batch expires may still run.
                'deadline_ms', least((e ->> 'deadline_ms')::integer, v_left_ms + coalesce((e ->> 'run_limit_ms')::integer, 0))))
         from jsonb_array_elements(v_new) e),
      v_shard);
  end if;

  return query
  select r.line, case when n.id is null then v_refusal else 'accepted' end, n.id, case when n.id is null then v_wait_s end
    from jsonb_array_elements(p -> 'polls') e
    join batch_rows r on r.batch_id = v_id and r.line = (e ->> 'line')::integer
    left join (select new ->> 'id' as id from jsonb_array_elements(v_new) new) n on n.id = r.poll_id
   where r.line between v_first and v_last and r.outcome is null and (r.poll_id is null or n.id is not null);
end $$;
