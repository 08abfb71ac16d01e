-- Errors in the transfers with ids in (p_after, p_to], and in the polls that they settled.
-- p_polls_kept: a missing poll is damage, not pruned. Polls of a dropped month are never considered missing.
-- Polls, holds, votes and results are looked up row by row (offset 0), where they are first needed. Statistics that are
-- older than the transfers would make a join of two of these sets compare each row with each, or read all months.
create or replace function check_transfers(p_after bigint, p_to bigint, p_polls_kept boolean)
returns table (rule text, subject text, found text)
language plpgsql stable set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
begin
  return query
with
range as materialized (
  select t.*, p.id as of_poll, p.account_id, p.status, p.unvoted_u, p.max_cost_u
    from transfers t left join lateral (
      select id, account_id, status, unvoted_u, case t.kind when 'hold' then (spec ->> 'max_cost_u')::bigint end as max_cost_u
        from polls where id = t.poll_id offset 0) p on true
   where t.id > p_after and t.id <= p_to
),
resolutions as materialized (
  select r.*, h.amount_u as hold_u,
         (h.debit = r.debit and h.credit = r.credit and h.poll_id is not distinct from r.poll_id
          and case r.kind when 'post' then r.amount_u <= h.amount_u else r.amount_u = h.amount_u end) is true as fits
    from range r left join lateral (select * from transfers where id = r.pending_id and kind = 'hold' offset 0) h on true
   where r.kind in ('post', 'void')
),
settled as materialized (
  select r.of_poll as id, r.status, r.unvoted_u, r.debit = '00000000-0000-4000-8000-000000000001' as by_pool,
         case r.kind when 'post' then r.amount_u else 0 end as posted_u,
         (select coalesce(sum(v.billed_u), 0) from votes v where v.poll_id = r.of_poll and v.billed_u > 0) as billed_u
    from resolutions r where r.of_poll is not null
),
-- Once for each settlement of a poll: votes that were captured by two are billed_twice.
billed as materialized (
  select v.*, s.by_pool
    from settled s cross join lateral (select * from votes where poll_id = s.id and billed_u > 0 offset 0) v
)

select 'parties', t.id::text, format('%s from %s to %s', t.kind, coalesce(d.kind, 'none'), coalesce(c.kind, 'none'))
  from range t left join accounts d on d.id = t.debit left join accounts c on c.id = t.credit
 where case
   when t.kind = 'credit' then d.kind = 'funding' and c.kind = 'user'
   when t.kind = 'top_up' then d.kind = 'funding' and c.kind in ('free_pool', 'audit_pool')
   when t.kind = 'reversal' then d.kind in ('user', 'free_pool', 'audit_pool') and c.kind = 'funding'
   else d.kind in ('user', 'free_pool', 'audit_pool') and c.kind = 'revenue' end is not true
union all
select 'resolved_twice', r.pending_id::text, format('by %s and %s', r.id, o.id)
  from resolutions r cross join lateral (
    select id from transfers where pending_id = r.pending_id and kind in ('post', 'void') and id <> r.id offset 0) o
union all
select 'resolution', r.id::text, format('%s of %s for a hold of %s', r.kind, r.amount_u, coalesce(r.hold_u::text, 'nothing'))
  from resolutions r where not r.fits
union all
select 'poll_hold', h.poll_id, format('its hold is named %s', h.idem)
  from range h where h.kind = 'hold' and h.poll_id is not null and h.idem <> 'hold:' || h.poll_id
union all
select 'poll_hold', h.of_poll, format('of account %s, held by %s', h.account_id, h.debit)
  from range h
 where h.kind = 'hold' and h.of_poll is not null
   and h.debit not in (h.account_id, '00000000-0000-4000-8000-000000000001')
union all
select 'hold_without_poll', h.id::text, h.poll_id
  from range h where p_polls_kept and h.kind = 'hold' and h.poll_id is not null and h.of_poll is null
   and h.poll_id >= coalesce((select max(next_poll) from months where polls_dropped_at is not null), '')
union all
select 'poll_max_cost', h.of_poll, format('hold %s, max cost %s', h.amount_u, h.max_cost_u)
  from range h
 where h.kind = 'hold' and h.of_poll is not null and h.amount_u > greatest(h.max_cost_u, 1)
union all
select 'poll_settled', s.id, 'running, and its hold is resolved' from settled s where s.status = 'running'
union all
select 'poll_captured', s.id, format('captured %s, votes bill %s, calls without a vote %s', s.posted_u,
         s.billed_u, s.unvoted_u)
  from settled s
 where s.posted_u <> s.billed_u + s.unvoted_u or (s.unvoted_u <> 0 and not s.by_pool)
union all
select 'poll_result', s.id, format('captured %s, result says %s', s.posted_u, coalesce(r.total_cost_u::text, 'nothing'))
  from settled s left join lateral (select poll_id, total_cost_u from results where poll_id = s.id offset 0) r on true
 where (r.poll_id is not null and r.total_cost_u <> s.posted_u - s.unvoted_u) or (r.poll_id is null and s.status = 'completed')
union all
select 'billed_twice', b.poll_id, format('%s, %s times', b.model_id, count(*))
  from billed b group by b.poll_id, b.model_id having count(*) > 1
union all
select 'billed_without_vote', b.poll_id, format('seat %s: %s, and its calls account for %s', b.seat, b.billed_u,
         case when b.by_pool then b.max_cost_u else b.fault_u end)
  from billed b where b.option is null and b.billed_u > case when b.by_pool then b.max_cost_u else b.fault_u end
union all
select 'card_credit', t.idem, format('ledger %s, checkout %s', t.amount_u, coalesce((s.amount_cents * 10000::bigint)::text, 'nothing'))
  from range t left join checkouts s on s.state = 'credited' and t.idem = 'card:' || s.processor_id
 where t.kind = 'credit' and t.debit = '00000000-0000-4000-8000-000000000004' and t.idem not like '%:reinstated:%'
   and (t.amount_u = s.amount_cents * 10000::bigint and t.credit = s.account_id) is not true
union all
select 'card_reversal', t.idem, format('%s of account %s, checkout of %s', t.kind,
         case t.kind when 'credit' then t.credit else t.debit end, coalesce(s.account_id::text, 'nothing'))
  from range t left join checkouts s on s.state = 'credited' and s.processor_id = split_part(t.idem, ':', 2)
 where ((t.kind = 'reversal' and t.credit = '00000000-0000-4000-8000-000000000004' and s.account_id is distinct from t.debit)
     or (t.kind = 'credit' and t.debit = '00000000-0000-4000-8000-000000000004' and t.idem like '%:reinstated:%'
         and s.account_id is distinct from t.credit))
union all
select 'chain_credit', t.idem, format('ledger %s, deposit %s', t.amount_u, coalesce(d.amount_u::text, 'nothing'))
  from range t left join deposits d on d.state = 'credited' and t.idem = 'deposit:' || d.id
 where t.kind = 'credit' and t.debit = '00000000-0000-4000-8000-000000000005'
   and (t.amount_u = d.amount_u and t.credit = d.account_id) is not true;
end $$;
