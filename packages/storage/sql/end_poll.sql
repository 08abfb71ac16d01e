-- Ends a running poll: stores status, result and votes, and captures what they are billed from the hold. Fenced: only
-- the holder of the current lease epoch may call it. A repetition after a lost answer returns 'stored' again.
-- An account pays for its valid votes, and for calls that its question made fail beyond the free part of the day. The
-- free pool pays for every call what providers charged, or the maximum that they can have charged.
-- p: see finish_polls. p_response: the stored answer (a jsonb value would lose the order of its members). votes_u: what
-- each vote is billed, in order, if that differs from p; failed_calls_u: the part of it that the question caused.
-- unvoted_u: what the pool paid besides its votes. p_settles: settle the spend at once. Otherwise the caller does so as
-- its last lock, with spend_shard, accepted_at (for a flex poll, its first claim), reserved_u and spent_u.
create or replace function end_poll(p jsonb, p_response json, p_settles boolean)
returns table (outcome text, votes_u bigint[], failed_calls_u bigint, unvoted_u bigint, spend_shard smallint,
  accepted_at timestamptz, reserved_u bigint, spent_u bigint)
language plpgsql security definer set search_path = public, pg_temp
-- Statements find rows by key: a generic plan prunes to one month at run time, and need not be made each time.
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  v_pool constant uuid := '00000000-0000-4000-8000-000000000001';
  v_id constant text := p ->> 'id';
  v_epoch constant integer := p ->> 'epoch';
  v_leaf constant bytea := decode(p ->> 'receipt', 'hex');
  v_read record;
  v_free boolean;
  v_aborted_calls integer := 0;
  v_aborted_u bigint := 0;
  v_aborted_max_u bigint := 0;
  v_poll record;
  v_row polls;
  v_stored record;
  v_extra_u bigint := 0;
  v_failed_u bigint := 0;
begin
  -- Reads everything that is needed from the response at once, and also the hold, which never changes.
  select h.id as hold_id, h.debit as payer, h.amount_u as hold_u, r.status, r.winning_option, r.is_tie, r.early_terminated,
         r.termination_reason, r.models_skipped, (r.timing ->> 'gather_ms')::integer as gather_ms,
         -- A poll that waited while everything was stopped for a month has more than fit into the column.
         least((r.timing ->> 'total_ms')::bigint, 2147483647)::integer as total_ms,
         coalesce(r.verdict ->> 'agreement' in ('split', 'tied') or r.verdict ->> 'kind' = 'unsafe', false) as is_close,
         s.*
    into v_read
    from (select coalesce(sum(billed_u), 0)::bigint as billed_u, coalesce(sum(cost_u), 0)::bigint as cost_u,
                 coalesce(sum(max_cost_u), 0)::bigint as max_cost_u, coalesce(sum(fault_u), 0)::bigint as fault_u,
                 count(*) filter (where error = 'refusal')::integer as refusals,
                 count(*) filter (where error in ('malformed', 'invalid_choice'))::integer as other_failures
            from votes_of(p)) s
    left join json_to_record(p_response) as r (status text, winning_option text, is_tie boolean, early_terminated boolean,
      termination_reason text, models_skipped smallint, timing json, verdict json) on true
    left join transfers h on h.idem = 'hold:' || v_id and h.kind = 'hold';
  v_free := coalesce(v_read.payer = v_pool, false);
  if not v_free then
    -- Before the poll and the balance, as accept_poll and set_key_limit do: a transaction that updates a balance twice
    -- checks that its account exists, and would wait for it while it holds both.
    perform 1 from accounts where id = v_read.payer for key share;
  end if;
  if p -> 'aborted' <> '[]' then
    select coalesce(sum(calls), 0), coalesce(sum(estimated_u), 0), coalesce(sum(max_u), 0)
      into v_aborted_calls, v_aborted_u, v_aborted_max_u
      from jsonb_to_recordset(p -> 'aborted') as a (calls integer, estimated_u bigint, max_u bigint);
  end if;

  -- What the calls of an earlier worker cost is unknown: the pool pays their maximum.
  update polls
     set status = case when v_read.status is null or v_read.status = 'failed' then 'failed' else 'completed' end,
         is_close = v_read.is_close, finished_at = now(), lease_owner = null, lease_until = now(),
         provider_cost_u = v_read.cost_u + v_aborted_u, aborted_calls = v_aborted_calls, aborted_cost_u = v_aborted_u,
         unvoted_u = case when v_free
           then least(v_aborted_max_u + (v_epoch - 1) * coalesce(provider_max_u, 0),
                      greatest(v_read.hold_u - v_read.max_cost_u, 0)) else 0 end
   where id = v_id and lease_epoch = v_epoch and finished_at is null
  returning status, result_id, account_id, tenant, key_id, entry_point, spec ->> 'panel_name' as panel_name,
            (spec ->> 'simulated')::boolean as simulated, metadata, webhook_url, batch_id, is_close, created_at, finished_at,
            canceled_at, expires_at, claims, audit_version, provider_max_u, spend_shard, spend_at, spend_again_u,
            unvoted_u
       into v_poll;
  if not found then
    perform 1 from polls where id = v_id and lease_epoch = v_epoch and status <> 'running';
    if found then
      return query select 'stored', max(r.votes_u), coalesce(max(r.failed_calls_u), 0), 0::bigint, null::smallint,
                          null::timestamptz, null::bigint, null::bigint
                     from results r where r.poll_id = v_id;
    else
      return query select 'fenced', null::bigint[], 0::bigint, 0::bigint, null::smallint, null::timestamptz, null::bigint,
                          null::bigint;
    end if;
    return;
  end if;

  if v_free then
    v_extra_u := greatest(v_read.max_cost_u + v_aborted_max_u - v_read.hold_u, 0);
  elsif v_read.fault_u > 0 then
    v_failed_u := charge_failures(v_read.payer, v_read.fault_u, greatest(v_read.hold_u - v_read.billed_u, 0),
      coalesce((p ->> 'failures_free_u')::bigint, 0), coalesce((p ->> 'failures_free_ppm')::bigint, 0));
  end if;

  with billed as (
    select v.*, case when v_free then 0 else v.billed_u end + greatest(0, least(part_u,
             case when v_free then v_read.hold_u else v_failed_u end
               - (sum(part_u) over (order by place) - part_u)))::bigint as paid_u
      from (select *, case when v_free then max_cost_u else fault_u end as part_u from votes_of(p)) v
  ), stored as (
    insert into votes (poll_id, seat, model_id, option, error, latency_ms, billed_u, provider_cost_u, cost_u,
                       max_cost_u, fault_u, calls, searched, labels)
    select v_id, seat, model_id, option, error, latency_ms, paid_u, provider_cost_u, cost_u, max_cost_u, fault_u,
           calls, searched, labels
      from billed
  )
  -- Limits and endpoints are read after the poll's row was locked: a transaction that sets a limit waits for that lock.
  select coalesce(sum(paid_u), 0)::bigint as billed_u, count(*)::smallint as votes, count(option)::smallint as valid,
         array_agg(paid_u order by place) as votes_u,
         exists (select from key_limits where key_id = v_poll.key_id) as is_limited,
         exists (select from webhook_endpoints where account_id = v_poll.account_id and url is not null) as is_heard
    into v_stored from billed;

  if v_read.hold_id is null then
    raise exception 'no hold %', 'hold:' || v_id using errcode = 'EP002';
  elsif not resolve_hold(v_read.hold_id, v_read.payer, v_read.hold_u, v_id, v_stored.billed_u + v_poll.unvoted_u) then
    raise exception 'the hold of % was resolved before its poll ended', v_id using errcode = 'EP005';
  end if;
  if v_poll.batch_id is not null or v_poll.webhook_url is not null or v_stored.is_heard then
    select * into v_row from polls where id = v_id;
  end if;
  if v_poll.batch_id is not null then
    perform end_batch_poll(v_row, case
      when v_read.status in ('success', 'partial') then v_read.status
      when v_poll.canceled_at is not null then 'canceled' else 'failed' end, v_read.hold_u, v_stored.billed_u);
  end if;
  if not v_free and v_stored.is_limited then
    -- What is left of the hold of a batch's poll stays reserved for the batch, and so stays counted by the limit.
    perform settle_key_limit(v_poll.key_id,
      case when v_poll.batch_id is null then v_read.hold_u else v_stored.billed_u end, v_stored.billed_u);
  end if;
  if v_poll.account_id is not null then
    perform count_usage(v_poll.account_id, v_poll.key_id, v_poll.panel_name, v_poll.entry_point, v_poll.metadata,
      (v_poll.status = 'completed')::integer, (v_poll.canceled_at is not null)::integer,
      (v_poll.is_close or coalesce(v_read.status = 'partial', false))::integer,
      (extract(epoch from v_poll.finished_at - v_poll.created_at) * 1000)::bigint,
      case when v_free then 0 else v_stored.billed_u end, coalesce((p ->> 'saved_u')::bigint, 0));
  end if;
  if v_extra_u > 0 then
    -- A provider charges more than its price list: the pool pays as long as it has money.
    select least(v_extra_u, posted_u - held_u) into v_extra_u from balances where account_id = v_pool;
    if v_extra_u > 0 and ledger_hold(v_pool, v_extra_u, 'extra:' || v_id, null) then
      perform ledger_resolve('extra:' || v_id, v_extra_u);
    end if;
  end if;
  if v_read.refusals + v_read.other_failures > 0 or v_read.fault_u > 0 then
    perform note_failures(coalesce(v_poll.tenant, v_poll.account_id::text, 'unknown'), v_poll.account_id, v_read.refusals,
      v_read.other_failures, v_read.fault_u, case when v_free then 0 else v_read.fault_u - v_failed_u end, v_failed_u);
  end if;

  if p_response is not null then
    with leaf as (
      insert into receipt_leaves (day, leaf) select (now() at time zone 'utc')::date, v_leaf where v_leaf is not null
    )
    insert into results (poll_id, result_id, account_id, status, panel_name, entry_point, simulated, winning_option,
                         is_tie, early_terminated, termination_reason, models_requested, models_succeeded,
                         models_failed, models_skipped, total_cost_u, gather_ms, total_ms, detail, votes_u,
                         failed_calls_u, receipt_leaf, expires_at)
    values (v_id, v_poll.result_id, v_poll.account_id, v_read.status, v_poll.panel_name, v_poll.entry_point,
            v_poll.simulated, v_read.winning_option, v_read.is_tie, v_read.early_terminated, v_read.termination_reason,
            v_stored.votes, v_stored.valid, v_stored.votes - v_stored.valid, v_read.models_skipped, v_stored.billed_u,
            v_read.gather_ms, v_read.total_ms, p_response, case when v_failed_u > 0 then v_stored.votes_u end,
            v_failed_u, v_leaf, v_poll.expires_at);
  end if;

  if p_response is not null and v_poll.audit_version is not null and p ? 'audit' then
    perform note_audit(v_id, v_poll.audit_version, p -> 'audit');
  end if;
  if p ? 'dead_letter' then
    insert into dead_letters (poll_id, reason, claims) values (v_id, p ->> 'dead_letter', v_poll.claims);
  end if;
  if v_poll.webhook_url is not null or v_stored.is_heard then
    perform note_poll_ended(v_row, coalesce(v_read.status, 'failed'), p_response is not null,
      case when v_free then 0 else v_stored.billed_u end);
  end if;
  outcome := 'stored';
  votes_u := case when v_free or v_failed_u > 0 then v_stored.votes_u end;
  failed_calls_u := v_failed_u;
  unvoted_u := v_poll.unvoted_u + v_extra_u;
  spend_shard := v_poll.spend_shard;
  accepted_at := coalesce(v_poll.spend_at, v_poll.created_at);
  reserved_u := v_poll.provider_max_u;
  spent_u := v_read.max_cost_u + v_aborted_max_u + (v_epoch - 1) * v_poll.provider_max_u;
  if v_poll.spend_again_u is not null then
    -- All claims together reserved no more than was set aside; votes from earlier workers are in both sums.
    spent_u := least(spent_u, greatest(v_read.max_cost_u + v_aborted_max_u, reserved_u + v_poll.spend_again_u))
               - v_poll.spend_again_u;
  end if;
  if p_settles and spend_shard is not null then
    perform settle_spend(spend_shard, accepted_at, reserved_u, spent_u);
  end if;
  return next;
end $$;
