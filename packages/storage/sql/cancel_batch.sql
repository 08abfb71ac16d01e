-- Starts no more rows of a batch; its runner then cancels running polls. Returns the present status; null if the
-- account has no such batch. Repeating it changes nothing.
create or replace function cancel_batch(p_id text, p_account uuid) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update batches set status = 'canceling', cancel_requested_at = now()
   where id = p_id and account_id = p_account and status = 'running';
  return (select status from batches where id = p_id and account_id = p_account and status not in ('loading', 'deleted'));
end $$;
