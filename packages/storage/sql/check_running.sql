-- Compares running polls with open holds, both ways, and finds anything that a poll must not have before it ends.
create or replace function check_running() returns table (rule text, subject text, found text)
language plpgsql stable set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
  v_after constant bigint := closed_to();
begin
  return query
with
open_holds as materialized (
  select h.id, h.poll_id, h.idem
    from (select hold_id as id from ledger_open_holds
          union all
          select id from transfers where id > v_after and kind = 'hold') o
    join transfers h using (id)
   where not exists (select from transfers r where r.pending_id = h.id and r.kind in ('post', 'void'))
),
running as materialized (
  -- A flex poll that a worker left may wait until its deadline.
  select p.id, case when p.lease_owner is not null and p.lease_until >= now() then least(p.deadline_at, p.run_until)
                    else p.deadline_at end as deadline_at, h.id as hold_id
    from polls p left join transfers h on h.idem = 'hold:' || p.id where p.status = 'running'
)

select 'poll_hold', r.id, 'running without a hold' from running r where r.hold_id is null
union all
select 'poll_settled', r.id, 'running, and its hold is resolved'
  from running r join transfers t on t.pending_id = r.hold_id and t.kind in ('post', 'void')
union all
select 'poll_settled', p.id, format('%s, and its hold is open', p.status)
  from open_holds h join polls p on p.id = h.poll_id where p.status <> 'running'
union all
select 'audit_hold', h.idem, 'open, and its audit is over'
  from open_holds h where h.idem like 'hold:audit:%'
   and not exists (select from audit_jobs j where h.idem = 'hold:audit:' || j.poll_id || ':' || j.lease_epoch)
union all
select 'poll_overdue', r.id, format('running, deadline was %s', r.deadline_at)
  from running r where r.deadline_at < now() - interval '60 seconds'
union all
select 'vote_without_poll', r.id, format('seat %s of a running poll', v.seat)
  from running r join votes v on v.poll_id = r.id;
end $$;
