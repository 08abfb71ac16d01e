-- Ends waiting rows of a batch that cannot become polls, with an error code. False if another runner has the batch.
create or replace function fail_batch_rows(p_id text, p_epoch integer, p_lines integer[], p_error text) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_failed integer;
begin
  perform 1 from batches where id = p_id and runner_epoch = p_epoch and status in ('running', 'canceling') for update;
  if not found then
    return false;
  end if;
  update batch_rows set outcome = 'failed', error = p_error, request = null
   where batch_id = p_id and line = any(p_lines) and poll_id is null and outcome is null;
  get diagnostics v_failed = row_count;
  update batches set failed = failed + v_failed where id = p_id;
  return true;
end $$;
