-- Deletes a batch that has ended, with the event of its end, or an abandoned upload; later prunings delete its rows.
-- 'open' if it has not ended; null if the account has no such batch.
create or replace function delete_batch(p_id text, p_account uuid) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_event text;
begin
  update batches set status = 'deleted', idempotency_key = null
   where id = p_id and account_id = p_account and status in ('loading', 'completed', 'canceled', 'expired')
  returning event_id into v_event;
  if found then
    -- An undelivered event has nothing left to report, and a delivered one is not sent again.
    delete from webhook_events where id = v_event;
    return 'deleted';
  end if;
  perform 1 from batches where id = p_id and account_id = p_account and status in ('running', 'canceling');
  return case when found then 'open' end;
end $$;
