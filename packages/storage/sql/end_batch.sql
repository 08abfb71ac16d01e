-- Ends a batch without running polls and returns the rest of its reservation. Rows without a poll do not get one:
-- p_reason says why, 'canceled', 'expired' or 'uncovered'; null if no row waits.
--   ended_now, ended  it has ended, by this call or before
--   running, waiting  it has running polls; it has waiting rows, and neither p_reason nor a cancellation stops them
--   fenced            another runner has the batch
create or replace function end_batch(p_id text, p_epoch integer, p_reason text) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_batch batches;
  v_left integer;
  v_event text;
begin
  -- As accept_batch_polls does: a batch that gets an event is updated twice, which checks that its account exists.
  perform 1 from accounts where id = (select account_id from batches where id = p_id) for key share;
  perform 1 from balances where account_id = (select account_id from batches where id = p_id) for update;
  select * into v_batch from batches where id = p_id for update;
  if not found or v_batch.status not in ('running', 'canceling') then
    return 'ended';
  end if;
  v_left := v_batch.total - v_batch.succeeded - v_batch.partial - v_batch.failed - v_batch.canceled - v_batch.running;
  if v_batch.runner_epoch <> p_epoch then
    return 'fenced';
  elsif v_batch.running > 0 then
    return 'running';
  elsif v_left > 0 and p_reason is null and v_batch.status = 'running' then
    return 'waiting';
  end if;
  update balances set reserved_u = reserved_u - v_batch.reserved_u where account_id = v_batch.account_id;
  perform settle_key_limit(v_batch.key_id, v_batch.reserved_u, 0);
  update batches
     set status = case when v_batch.status = 'canceling' then 'canceled' when p_reason = 'expired' then 'expired' else 'completed' end,
         not_run = v_left,
         not_run_reason = case when v_left > 0 then case when v_batch.status = 'canceling' then 'canceled' else p_reason end end,
         reserved_u = 0, runner_owner = null, ended_at = now()
   where id = p_id
  returning * into v_batch;
  v_event := note_webhook_event(v_batch.account_id, 'batch.completed', jsonb_build_object(
    'batch_id', p_id, 'status', v_batch.status, 'counts', jsonb_build_object(
      'total', v_batch.total, 'success', v_batch.succeeded, 'partial', v_batch.partial, 'failed', v_batch.failed,
      -- As the API counts them: rows that were not run because the batch was canceled count as canceled.
      'canceled', v_batch.canceled + case when v_batch.not_run_reason = 'canceled' then v_batch.not_run else 0 end,
      'not_run', case when v_batch.not_run_reason = 'canceled' then 0 else v_batch.not_run end),
    'not_run_reason', v_batch.not_run_reason, 'cost_usd', trim_scale(v_batch.cost_u / 1000000.0),
    'metadata', coalesce(v_batch.metadata, '{}'),
    'created_at', to_char(v_batch.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'ended_at', to_char(v_batch.ended_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), v_batch.webhook_url);
  if v_event is not null then
    update batches set event_id = v_event where id = p_id;
  end if;
  return 'ended_now';
end $$;
