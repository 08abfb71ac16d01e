-- Cancels a poll for its account. Repeating it changes nothing.
--   ended    it had ended before
--   ended_now no worker had claimed it: it failed without a result, and its hold is released
--   ending   a worker stores the votes received so far: the holder of the lease, or else the next worker that claims it
-- No row: the account has no such poll.
create or replace function cancel_poll(p_id text, p_account uuid)
returns table (outcome text, epoch integer, held boolean)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  v_poll polls;
begin
  -- As end_poll does: the end of a batch's poll updates the balance twice.
  perform 1 from accounts where id = p_account for key share;
  -- Claims and ends wait for this lock, or this call waits for theirs.
  select * into v_poll from polls where id = p_id and account_id = p_account for update;
  if not found then return; end if;
  if v_poll.status <> 'running' then
    return query select 'ended', v_poll.lease_epoch, false;
    return;
  end if;
  if v_poll.lease_epoch > 0 then
    -- A poll past its deadline can be taken from a holder that hangs.
    update polls set canceled_at = coalesce(canceled_at, now()), deadline_at = least(deadline_at, now()) where id = p_id;
    return query select 'ending', v_poll.lease_epoch, v_poll.lease_owner is not null and v_poll.lease_until >= now();
    return;
  end if;
  update polls
     set status = 'failed', canceled_at = now(), finished_at = now(), lease_until = now(), provider_cost_u = 0
   where id = p_id
  returning * into v_poll;
  if not ledger_resolve('hold:' || p_id, 0) then
    raise exception 'the hold of % was resolved before its poll ended', p_id using errcode = 'EP005';
  end if;
  perform end_batch_poll(v_poll, 'canceled', (select amount_u from transfers where idem = 'hold:' || p_id), 0);
  perform settle_key_limit(v_poll.key_id, amount_u, 0) from transfers
    where idem = 'hold:' || p_id and debit = v_poll.account_id and v_poll.key_id is not null and v_poll.batch_id is null;
  perform count_usage(v_poll.account_id, v_poll.key_id, v_poll.spec ->> 'panel_name', v_poll.entry_point, v_poll.metadata,
    0, 1, 0, 0, 0, 0);
  perform note_poll_ended(v_poll, 'failed', false, 0);
  if v_poll.spend_shard is not null then
    perform settle_spend(v_poll.spend_shard, v_poll.created_at, v_poll.provider_max_u, 0);
  end if;
  return query select 'ended_now', 0, false;
end $$;
