-- Ends a running poll: status, result, votes, and its hold captured for what they are billed. Fenced: only the holder of
-- the current lease epoch may do it. Repeating it after a lost answer is 'stored' again.
-- An account pays its valid votes, and the calls that its question made fail beyond what it has free for the day. The
-- free pool pays what providers charged, or at most can have charged, for every call.
-- p: id, epoch, votes, aborted (calls that a stop ended); response, the stored answer as a text (a jsonb value would lose
-- the order of its members), or dead_letter, why the poll was given up without one; failures_free_u, failures_free_ppm;
-- audit, what was heard (see note_audit); receipt, the hash of its receipt in hexadecimal; saved_u, see count_usage.
-- votes_u: what each vote is billed, in their order, where that is not what p says; failed_calls_u the part of it that the
-- question caused. unvoted_u: what the pool paid besides its votes.
create or replace function finish_poll(p jsonb)
returns table (outcome text, votes_u bigint[], failed_calls_u bigint, unvoted_u bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  v_pool constant uuid := '00000000-0000-4000-8000-000000000001';
  v_id constant text := p ->> 'id';
  v_epoch constant integer := p ->> 'epoch';
  v_response constant json := p ->> 'response';
  v_status constant text := v_response ->> 'status';
  v_leaf constant bytea := decode(p ->> 'receipt', 'hex');
  v_poll polls;
  v_hold transfers;
  v_free boolean;
  v_sum record;
  v_aborted record;
  v_extra_u bigint := 0;
  v_failed_u bigint := 0;
  v_stored record;
begin
  select * into v_hold from transfers where idem = 'hold:' || v_id and kind = 'hold';
  v_free := coalesce(v_hold.debit = v_pool, false);
  select coalesce(sum(billed_u), 0)::bigint as billed_u, coalesce(sum(cost_u), 0)::bigint as cost_u,
         coalesce(sum(max_cost_u), 0)::bigint as max_cost_u, coalesce(sum(fault_u), 0)::bigint as fault_u,
         count(*) filter (where error = 'refusal')::integer as refusals,
         count(*) filter (where error in ('malformed', 'invalid_choice'))::integer as other_failures
    into v_sum from votes_of(p);
  select coalesce(sum(calls), 0)::integer as calls, coalesce(sum(estimated_u), 0)::bigint as cost_u,
         coalesce(sum(max_u), 0)::bigint as max_cost_u
    into v_aborted from jsonb_to_recordset(p -> 'aborted') as a (calls integer, estimated_u bigint, max_u bigint);

  -- What became of the calls of an earlier worker is not known: the pool pays the most that they can have cost.
  update polls
     set status = case when v_status is null or v_status = 'failed' then 'failed' else 'completed' end,
         is_close = coalesce(v_response #>> '{verdict,agreement}' in ('split', 'tied')
                             or v_response #>> '{verdict,kind}' = 'unsafe', false),
         finished_at = now(), lease_owner = null, lease_until = now(),
         provider_cost_u = v_sum.cost_u + v_aborted.cost_u, aborted_calls = v_aborted.calls,
         aborted_cost_u = v_aborted.cost_u,
         unvoted_u = case when v_free
           then least(v_aborted.max_cost_u + (v_epoch - 1) * coalesce(provider_max_u, 0),
                      greatest(v_hold.amount_u - v_sum.max_cost_u, 0)) else 0 end
   where id = v_id and lease_epoch = v_epoch and status = 'running'
  returning * into v_poll;
  if not found then
    perform 1 from polls where id = v_id and lease_epoch = v_epoch and status <> 'running';
    if found then
      return query select 'stored', max(r.votes_u), coalesce(max(r.failed_calls_u), 0), 0::bigint
                     from results r where r.poll_id = v_id;
    else
      return query select 'fenced', null::bigint[], 0::bigint, 0::bigint;
    end if;
    return;
  end if;

  if v_free then
    v_extra_u := greatest(v_sum.max_cost_u + v_aborted.max_cost_u - v_hold.amount_u, 0);
  elsif v_sum.fault_u > 0 then
    v_failed_u := charge_failures(v_hold.debit, v_sum.fault_u, greatest(v_hold.amount_u - v_sum.billed_u, 0),
      coalesce((p ->> 'failures_free_u')::bigint, 0), coalesce((p ->> 'failures_free_ppm')::bigint, 0));
  end if;

  with billed as (
    select v.*, case when v_free then 0 else v.billed_u end + greatest(0, least(part_u,
             case when v_free then v_hold.amount_u else v_failed_u end
               - (sum(part_u) over (order by place) - part_u)))::bigint as paid_u
      from (select *, case when v_free then max_cost_u else fault_u end as part_u from votes_of(p)) v
  ), stored as (
    insert into votes (poll_id, seat, model_id, option, error, latency_ms, billed_u, provider_cost_u, cost_u,
                       max_cost_u, fault_u, calls, searched, labels)
    select v_id, seat, model_id, option, error, latency_ms, paid_u, provider_cost_u, cost_u, max_cost_u, fault_u,
           calls, searched, labels
      from billed
  )
  select coalesce(sum(paid_u), 0)::bigint as billed_u, count(*)::smallint as votes, count(option)::smallint as valid,
         array_agg(paid_u order by place) as votes_u
    into v_stored from billed;

  if not ledger_resolve('hold:' || v_id, v_stored.billed_u + v_poll.unvoted_u) then
    raise exception 'the hold of % was resolved before its poll ended', v_id using errcode = 'EP005';
  end if;
  perform end_batch_poll(v_poll, case
    when v_status in ('success', 'partial') then v_status
    when v_poll.canceled_at is not null then 'canceled' else 'failed' end, v_hold.amount_u, v_stored.billed_u);
  if not v_free and v_poll.key_id is not null then
    -- What a poll of a batch leaves of its hold stays reserved for the batch, which the limit counts too.
    perform settle_key_limit(v_poll.key_id,
      case when v_poll.batch_id is null then v_hold.amount_u else v_stored.billed_u end, v_stored.billed_u);
  end if;
  perform count_usage(v_poll, v_status, case when v_free then 0 else v_stored.billed_u end, (p ->> 'saved_u')::bigint);
  if v_extra_u > 0 then
    -- A provider that charges more than its price list; the pool pays as long as it has anything.
    select least(v_extra_u, posted_u - held_u) into v_extra_u from balances where account_id = v_pool;
    if v_extra_u > 0 and ledger_hold(v_pool, v_extra_u, 'extra:' || v_id, null) then
      perform ledger_resolve('extra:' || v_id, v_extra_u);
    end if;
  end if;
  if v_sum.refusals + v_sum.other_failures > 0 or v_sum.fault_u > 0 then
    perform note_failures(coalesce(v_poll.tenant, v_poll.account_id::text, 'unknown'), v_poll.account_id, v_sum.refusals,
      v_sum.other_failures, v_sum.fault_u, case when v_free then 0 else v_sum.fault_u - v_failed_u end, v_failed_u);
  end if;

  if v_response is not null then
    insert into results (poll_id, result_id, account_id, status, panel_name, entry_point, simulated, winning_option,
                         is_tie, early_terminated, termination_reason, models_requested, models_succeeded,
                         models_failed, models_skipped, total_cost_u, gather_ms, total_ms, detail, votes_u,
                         failed_calls_u, receipt_leaf, expires_at)
    values (v_id, v_poll.result_id, v_poll.account_id, v_status, v_poll.spec ->> 'panel_name',
            v_poll.entry_point, (v_poll.spec ->> 'simulated')::boolean, v_response ->> 'winning_option',
            (v_response ->> 'is_tie')::boolean, (v_response ->> 'early_terminated')::boolean,
            v_response ->> 'termination_reason', v_stored.votes, v_stored.valid, v_stored.votes - v_stored.valid,
            (v_response ->> 'models_skipped')::smallint, v_stored.billed_u,
            (v_response #>> '{timing,gather_ms}')::integer, (v_response #>> '{timing,total_ms}')::integer, v_response,
            case when v_failed_u > 0 then v_stored.votes_u end, v_failed_u, v_leaf, v_poll.expires_at);
  end if;

  if v_leaf is not null then
    insert into receipt_leaves (day, leaf) values ((now() at time zone 'utc')::date, v_leaf);
  end if;

  if v_response is not null and v_poll.audit_version is not null and p ? 'audit' then
    perform note_audit(v_id, v_poll.audit_version, p -> 'audit');
  end if;
  if p ? 'dead_letter' then
    insert into dead_letters (poll_id, reason, claims) values (v_id, p ->> 'dead_letter', v_poll.claims);
  end if;
  perform note_poll_ended(v_poll, coalesce(v_status, 'failed'), v_response is not null, v_stored.billed_u);
  -- The last lock that is taken, because other polls share the row.
  if v_poll.spend_shard is not null then
    perform settle_spend(v_poll.spend_shard, v_poll.created_at, v_poll.provider_max_u,
      v_sum.max_cost_u + v_aborted.max_cost_u + (v_epoch - 1) * v_poll.provider_max_u);
  end if;
  return query select 'stored', case when v_free or v_failed_u > 0 then v_stored.votes_u end, v_failed_u,
                      v_poll.unvoted_u + v_extra_u;
end $$;
