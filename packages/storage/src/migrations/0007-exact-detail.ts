import type { Migration } from './migration.ts';

// A stored response comes back with its members in the order in which it was sent: the tally in the order of the
// options, and a replayed request byte for byte. Type json keeps that, jsonb does not.
export const exactDetail: Migration = {
  name: '0007-exact-detail',
  sql: `
alter table results alter column detail type json using detail::json;

-- Ends a running poll: status, result, votes, and its hold captured for the sum of billed votes. Fenced: only the
-- holder of the current lease epoch may do it. Repeating it after a lost answer is 'stored' again. The response comes
-- as a text inside the argument (detail_text): as a value it would lose the order of its members.
create or replace function finish_poll(p jsonb) returns text language plpgsql as $$
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
           v_billed_u, r.gather_ms, r.total_ms, coalesce(r.detail_text::json, r.detail)
      from jsonb_to_record(v_result) as r (status text, winning_option text, is_tie boolean,
             early_terminated boolean, termination_reason text, models_requested smallint,
             models_succeeded smallint, models_failed smallint, models_skipped smallint, gather_ms integer,
             total_ms integer, detail json, detail_text text);
  end if;

  if p ? 'dead_letter' then
    insert into dead_letters (poll_id, reason, attempts) values (v_id, p ->> 'dead_letter', v_poll.attempts);
  end if;
  return 'stored';
end $$;
`,
};
