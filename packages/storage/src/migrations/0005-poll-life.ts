import type { Migration } from './migration.ts';

// The two statements a poll's life hangs on, one round trip and one transaction each. Fields are added to their jsonb
// argument as optional ones, so that old and new processes can run side by side during a deploy.
export const pollLife: Migration = {
  name: '0005-poll-life',
  sql: `
-- The first free poll of a UTC day sets the pool to the cap (it does not add the cap), so that what free polls hold
-- and spend between two midnights never exceeds it. topped_up_on only moves forward, under the row's lock. A cap that
-- changed takes effect at the next midnight.
create function top_up_free_pool(p_cap_u bigint) returns void language plpgsql as $$
declare
  v_pool constant uuid := '00000000-0000-4000-8000-000000000001';
  v_operator constant uuid := '00000000-0000-4000-8000-000000000003';
  v_today constant date := (now() at time zone 'utc')::date;
  v_posted_u bigint;
  v_surplus_u bigint;
begin
  perform 1 from balances where account_id = v_pool and topped_up_on >= v_today;
  if found then
    return;
  end if;
  select posted_u, least(posted_u - p_cap_u, posted_u - held_u) into v_posted_u, v_surplus_u
    from balances where account_id = v_pool and coalesce(topped_up_on < v_today, true) for update;
  if not found then
    return;
  end if;
  update balances set topped_up_on = v_today where account_id = v_pool;
  if v_posted_u < p_cap_u then
    perform ledger_move('top_up', v_pool, v_operator, p_cap_u - v_posted_u, 'free_pool:' || v_today);
  elsif v_surplus_u > 0 then
    perform ledger_move('reversal', v_pool, v_operator, v_surplus_u, 'free_pool:' || v_today);
  end if;
end $$;

-- Takes the key, the hold and the poll row together, or leaves nothing behind.
--   accepted      this poll exists now (also when it did before: a retry after a lost answer)
--   joined        the key belongs to poll_id, accepted earlier with the same body
--   reused        the key was used with another body
--   insufficient  the account cannot cover the hold; retry_after_s is set when the free pool is empty
-- Each statement below sees what others committed while the one before it waited; that is what lets a loser of the
-- race for a key read the winner's poll in the same call.
create function accept_poll(p jsonb)
returns table (outcome text, poll_id text, available_u bigint, retry_after_s integer) language plpgsql as $$
#variable_conflict use_column
declare
  v_id constant text := p ->> 'id';
  v_account uuid := (p ->> 'account_id')::uuid;
  v_payer uuid := v_account;
  v_principal constant text := p ->> 'principal';
  v_operation constant text := p ->> 'operation';
  v_key constant text := p ->> 'key';
  v_fingerprint constant text := p ->> 'fingerprint';
  v_known idempotency;
  v_available_u bigint;
begin
  if v_key is not null then
    insert into idempotency as i (principal, operation, key, fingerprint, poll_id, expires_at)
    values (v_principal, v_operation, v_key, v_fingerprint, v_id, now() + interval '24 hours')
    on conflict (principal, operation, key) do update
      set fingerprint = excluded.fingerprint, poll_id = excluded.poll_id, claim = null, claimed_until = null,
          response = null, created_at = now(), expires_at = excluded.expires_at
      where i.expires_at <= now();
    if not found then
      select * into v_known from idempotency i
       where i.principal = v_principal and i.operation = v_operation and i.key = v_key;
      if not found then
        raise exception 'the key was pruned meanwhile' using errcode = '40001';
      elsif v_known.fingerprint <> v_fingerprint or v_known.poll_id is null then
        return query select 'reused', null::text, null::bigint, null::integer;
        return;
      elsif v_known.poll_id <> v_id then
        return query select 'joined', v_known.poll_id, null::bigint, null::integer;
        return;
      end if;
    end if;
  end if;

  perform 1 from polls where id = v_id;
  if found then
    return query select 'accepted', v_id, null::bigint, null::integer;
    return;
  end if;

  if p ? 'free_daily_cap_u' then
    v_payer := '00000000-0000-4000-8000-000000000001';
    perform top_up_free_pool((p ->> 'free_daily_cap_u')::bigint);
  end if;

  if not ledger_hold(v_payer, (p ->> 'hold_u')::bigint, 'hold:' || v_id, v_id) then
    perform 1 from polls where id = v_id;
    if found then
      return query select 'accepted', v_id, null::bigint, null::integer;
      return;
    end if;
    delete from idempotency i
     where i.principal = v_principal and i.operation = v_operation and i.key = v_key and i.poll_id = v_id;
    select posted_u - held_u into v_available_u from balances where account_id = v_payer;
    return query select 'insufficient', null::text, coalesce(v_available_u, 0),
      case when p ? 'free_daily_cap_u' then
        ceil(extract(epoch from date_trunc('day', now(), 'UTC') + interval '1 day' - now()))::integer end;
    return;
  end if;

  insert into polls (id, result_id, account_id, spec, surface, request_id, traceparent, lease_until, deadline_at)
  values (v_id, p ->> 'result_id', v_account, p -> 'spec', p ->> 'surface', p ->> 'request_id', p ->> 'traceparent',
          now() + interval '5 seconds', now() + (p ->> 'deadline_ms')::integer * interval '1 millisecond');
  return query select 'accepted', v_id, null::bigint, null::integer;
end $$;

-- Ends a running poll: status, result, votes, and its hold captured for the sum of billed votes. Fenced: only the
-- holder of the current lease epoch may do it. Repeating it after a lost answer is 'stored' again.
create function finish_poll(p jsonb) returns text language plpgsql as $$
declare
  v_id constant text := p ->> 'id';
  v_epoch constant integer := p ->> 'epoch';
  v_result constant jsonb := nullif(p -> 'result', 'null');
  v_poll polls;
  v_billed_u bigint;
begin
  update polls
     set status = p ->> 'status', finished_at = now(), lease_owner = null, lease_until = now()
   where id = v_id and lease_epoch = v_epoch and status = 'running'
  returning * into v_poll;
  if not found then
    perform 1 from polls where id = v_id and lease_epoch = v_epoch and status <> 'running';
    return case when found then 'stored' else 'fenced' end;
  end if;

  with stored as (
    insert into votes (poll_id, seat, model_id, option, error, latency_ms, billed_u, provider_cost_u, attempts,
                         searched, labels)
    select v_id, b.seat, b.model_id, b.option, b.error, b.latency_ms, b.billed_u, b.provider_cost_u, b.attempts,
           b.searched, coalesce(b.labels, '{}')
      from jsonb_to_recordset(p -> 'votes') as b (seat smallint, model_id text, option smallint, error text,
             latency_ms integer, billed_u bigint, provider_cost_u bigint, attempts smallint, searched boolean,
             labels text[])
    returning billed_u
  )
  select coalesce(sum(billed_u), 0) into v_billed_u from stored;

  if not ledger_resolve('hold:' || v_id, v_billed_u) then
    raise exception 'the hold of % was resolved before its poll ended', v_id using errcode = 'EP005';
  end if;

  if v_result is not null then
    insert into results (poll_id, result_id, account_id, status, panel_name, surface, simulated, winning_option,
                         is_tie, early_terminated, termination_reason, models_requested, models_succeeded,
                         models_failed, models_skipped, total_cost_u, gather_ms, total_ms, detail)
    select v_id, v_poll.result_id, v_poll.account_id, r.status, v_poll.spec ->> 'panel_name', v_poll.surface,
           (v_poll.spec ->> 'simulated')::boolean, r.winning_option, r.is_tie, r.early_terminated,
           r.termination_reason, r.models_requested, r.models_succeeded, r.models_failed, r.models_skipped,
           v_billed_u, r.gather_ms, r.total_ms, r.detail
      from jsonb_to_record(v_result) as r (status text, winning_option text, is_tie boolean,
             early_terminated boolean, termination_reason text, models_requested smallint,
             models_succeeded smallint, models_failed smallint, models_skipped smallint, gather_ms integer,
             total_ms integer, detail jsonb);
  end if;

  if p ? 'dead_letter' then
    insert into dead_letters (poll_id, reason, attempts) values (v_id, p ->> 'dead_letter', v_poll.attempts);
  end if;
  return 'stored';
end $$;
`,
};
