-- Deletes a batch that has ended, or whose upload is given up; its rows go with the next prunings. 'open' when it has not ended; null when the account
-- has no such batch.
create or replace function delete_batch(p_id text, p_account uuid) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update batches set status = 'deleted', idempotency_key = null
   where id = p_id and account_id = p_account and status in ('loading', 'completed', 'canceled', 'expired');
  if found then
    return 'deleted';
  end if;
  perform 1 from batches where id = p_id and account_id = p_account and status in ('running', 'canceling');
  return case when found then 'open' end;
end $$;
