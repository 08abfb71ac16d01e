-- Ends a running poll: status, result, votes, and its hold captured for the sum of billed votes. Fenced: only the
-- holder of the current lease epoch may do it. Repeating it after a lost answer is 'stored' again.
-- p: id, epoch, votes; response, the stored answer as a text (a jsonb value would lose the order of its members), or
-- dead_letter, why the poll was given up without one.
create or replace function finish_poll(p jsonb) returns text language plpgsql as $$
declare
  v_id constant text := p ->> 'id';
  v_epoch constant integer := p ->> 'epoch';
  v_response constant json := p ->> 'response';
  v_poll polls;
  v_billed_u bigint;
  v_votes smallint;
  v_valid smallint;
begin
  update polls
     set status = case when v_response is null or v_response ->> 'status' = 'failed' then 'failed' else 'completed' end,
         finished_at = now(), lease_owner = null, lease_until = now()
   where id = v_id and lease_epoch = v_epoch and status = 'running'
  returning * into v_poll;
  if not found then
    perform 1 from polls where id = v_id and lease_epoch = v_epoch and status <> 'running';
    return case when found then 'stored' else 'fenced' end;
  end if;

  with stored as (
    insert into votes (poll_id, seat, model_id, option, error, latency_ms, billed_u, provider_cost_u, calls, searched,
                       labels)
    select v_id, v.seat, v.model_id, v.option, v.error, v.latency_ms, v.billed_u, v.provider_cost_u, v.calls,
           v.searched, coalesce(v.labels, '{}')
      from jsonb_to_recordset(p -> 'votes') as v (seat smallint, model_id text, option smallint, error text,
             latency_ms integer, billed_u bigint, provider_cost_u bigint, calls smallint, searched boolean,
             labels text[])
    returning billed_u, option
  )
  select coalesce(sum(billed_u), 0), count(*), count(option) into v_billed_u, v_votes, v_valid from stored;

  if not ledger_resolve('hold:' || v_id, v_billed_u) then
    raise exception 'the hold of % was resolved before its poll ended', v_id using errcode = 'EP005';
  end if;

  if v_response is not null then
    insert into results (poll_id, result_id, account_id, status, panel_name, entry_point, simulated, winning_option,
                         is_tie, early_terminated, termination_reason, models_requested, models_succeeded,
                         models_failed, models_skipped, total_cost_u, gather_ms, total_ms, detail)
    values (v_id, v_poll.result_id, v_poll.account_id, v_response ->> 'status', v_poll.spec ->> 'panel_name',
            v_poll.entry_point, (v_poll.spec ->> 'simulated')::boolean, v_response ->> 'winning_option',
            (v_response ->> 'is_tie')::boolean, (v_response ->> 'early_terminated')::boolean,
            v_response ->> 'termination_reason', v_votes, v_valid, v_votes - v_valid,
            (v_response ->> 'models_skipped')::smallint, v_billed_u, (v_response #>> '{timing,gather_ms}')::integer,
            (v_response #>> '{timing,total_ms}')::integer, v_response);
  end if;

  if p ? 'dead_letter' then
    insert into dead_letters (poll_id, reason, claims) values (v_id, p ->> 'dead_letter', v_poll.claims);
  end if;
  return 'stored';
end $$;
