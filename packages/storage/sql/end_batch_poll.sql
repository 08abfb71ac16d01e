-- After a poll has ended and its hold is resolved, returns the uncaptured part of the hold to its batch's reservation.
-- p_outcome: the outcome of the batch row. Does nothing for a poll without a batch.
create or replace function end_batch_poll(p_poll polls, p_outcome text, p_hold_u bigint, p_captured_u bigint) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if p_poll.batch_id is null then
    return;
  end if;
  -- Locks are taken in the order of accept_batch_polls; resolving the hold has already locked the balance.
  update balances b set reserved_u = b.reserved_u + p_hold_u - p_captured_u
    from batches t where t.id = p_poll.batch_id and b.account_id = t.account_id;
  update batches
     set running = running - 1,
         succeeded = succeeded + (p_outcome = 'success')::integer,
         partial = partial + (p_outcome = 'partial')::integer,
         failed = failed + (p_outcome = 'failed')::integer,
         canceled = canceled + (p_outcome = 'canceled')::integer,
         cost_u = cost_u + p_captured_u, reserved_u = reserved_u + p_hold_u - p_captured_u,
         moved_at = now()
   where id = p_poll.batch_id;
  update batch_rows set outcome = p_outcome where batch_id = p_poll.batch_id and line = p_poll.batch_line;
end $$;
