-- The auditor: `select * from check_ledger()` lists everything that contradicts the rules of the ledger; no row means
-- drift 0. It relies on nothing that keeps those rules: not the constraints, not the functions, not the running
-- balances. It is one statement, so it sees one moment, and it may run at any time beside live traffic.
create or replace function check_ledger() returns table (rule text, subject text, found text) language sql stable as $$
with
moved as (
  select account_id, sum(amount_u) as posted_u,
         sum(amount_u) filter (where kind <> 'post') as credited_u,
         -sum(amount_u) filter (where kind = 'post') as used_u
    from ledger_entries group by account_id
),
resolved as (
  select pending_id as hold_id, count(*) as times, sum(amount_u) filter (where kind = 'post') as posted_u
    from transfers where kind in ('post', 'void') group by pending_id
),
holds as (
  select h.*, coalesce(r.times, 0) as times, coalesce(r.posted_u, 0) as posted_u
    from transfers h left join resolved r on r.hold_id = h.id where h.kind = 'hold'
),
open_holds as (
  select debit as account_id, sum(amount_u) as held_u from holds where times = 0 group by debit
),
billed as (
  select poll_id, sum(billed_u) as billed_u from votes group by poll_id
),
books as (
  select p.id, p.status, p.deadline_at, (p.spec ->> 'max_cost_u')::bigint as max_cost_u,
         count(h.id) as holds, coalesce(sum(h.amount_u), 0) as hold_u, coalesce(sum(h.times), 0) as resolutions,
         coalesce(sum(h.posted_u), 0) as posted_u
    from polls p left join holds h on h.poll_id = p.id group by p.id
)

select 'trial_balance', 'all accounts', format('running and derived balances sum to %s', total)
  from (select coalesce((select sum(posted_u) from balances), 0) + coalesce((select sum(posted_u) from moved m
          where not exists (select from balances b where b.account_id = m.account_id)), 0) as total) t
 where total <> 0
union all
select 'posted', b.account_id::text, format('running %s, transfers %s', b.posted_u, coalesce(m.posted_u, 0))
  from balances b left join moved m using (account_id) where b.posted_u <> coalesce(m.posted_u, 0)
union all
select 'held', b.account_id::text, format('running %s, open holds %s', b.held_u, coalesce(o.held_u, 0))
  from balances b left join open_holds o using (account_id) where b.held_u <> coalesce(o.held_u, 0)
union all
select 'used', b.account_id::text, format('running %s, captures %s', b.used_u, coalesce(m.used_u, 0))
  from balances b left join moved m using (account_id) where b.used_u <> coalesce(m.used_u, 0)
union all
select 'identity', b.account_id::text, format('credited %s - used %s - available %s is not held %s',
         coalesce(m.credited_u, 0), b.used_u, b.posted_u - b.held_u, b.held_u)
  from balances b left join moved m using (account_id)
 where coalesce(m.credited_u, 0) - b.used_u - (b.posted_u - b.held_u) <> b.held_u
union all
select 'negative_available', b.account_id::text, format('available %s', b.posted_u - b.held_u)
  from balances b where b.posted_u - b.held_u < 0 and not b.allow_negative
union all
select 'negative_unexplained', b.account_id::text, 'may be negative without a reversal'
  from balances b where b.allow_negative
   and not exists (select from transfers t where t.kind = 'reversal' and t.debit = b.account_id)
union all
select 'no_balance', a.id::text, 'an account that can hold money has no balance row'
  from accounts a where a.kind in ('user', 'free_pool')
   and not exists (select from balances b where b.account_id = a.id)
union all
select 'parties', t.id::text, format('%s from %s to %s', t.kind, coalesce(d.kind, 'none'), coalesce(c.kind, 'none'))
  from transfers t left join accounts d on d.id = t.debit left join accounts c on c.id = t.credit
 where case
   when t.kind = 'credit' then d.kind = 'funding' and c.kind = 'user'
   when t.kind = 'top_up' then d.kind = 'funding' and c.kind = 'free_pool'
   when t.kind = 'reversal' then d.kind in ('user', 'free_pool') and c.kind = 'funding'
   else d.kind in ('user', 'free_pool') and c.kind = 'revenue' end is not true
union all
select 'resolved_twice', h.id::text, format('%s resolutions', h.times) from holds h where h.times > 1
union all
select 'resolution', r.id::text, format('%s of %s for a hold of %s', r.kind, r.amount_u, coalesce(h.amount_u::text, 'nothing'))
  from transfers r left join transfers h on h.id = r.pending_id and h.kind = 'hold'
 where r.kind in ('post', 'void')
   and (h.debit = r.debit and h.credit = r.credit and h.poll_id is not distinct from r.poll_id
        and case r.kind when 'post' then r.amount_u <= h.amount_u else r.amount_u = h.amount_u end) is not true
union all
select 'poll_hold', k.id, format('%s holds', k.holds) from books k where k.holds <> 1
union all
select 'poll_max_cost', k.id, format('hold %s, max cost %s', k.hold_u, k.max_cost_u)
  from books k where k.hold_u > greatest(k.max_cost_u, 1)
union all
select 'poll_settled', k.id, format('%s, with %s resolutions', k.status, k.resolutions)
  from books k where k.resolutions <> case k.status when 'running' then 0 else 1 end
union all
select 'poll_captured', k.id, format('captured %s, votes bill %s', k.posted_u, coalesce(b.billed_u, 0))
  from books k left join billed b on b.poll_id = k.id
 where k.status <> 'running' and k.posted_u <> coalesce(b.billed_u, 0)
union all
select 'poll_result', k.id, format('captured %s, result says %s', k.posted_u, coalesce(r.total_cost_u::text, 'nothing'))
  from books k left join results r on r.poll_id = k.id
 where (r.poll_id is not null and r.total_cost_u <> k.posted_u) or (r.poll_id is null and k.status = 'completed')
union all
select 'poll_overdue', k.id, format('running, deadline was %s', k.deadline_at)
  from books k where k.status = 'running' and k.deadline_at < now() - interval '60 seconds'
union all
select 'hold_without_poll', h.id::text, h.poll_id
  from holds h where h.poll_id is not null and not exists (select from polls p where p.id = h.poll_id)
union all
select 'billed_twice', b.poll_id, format('%s, %s times', b.model_id, count(*))
  from votes b where b.billed_u > 0 group by b.poll_id, b.model_id having count(*) > 1
union all
select 'billed_without_vote', b.poll_id, format('seat %s', b.seat)
  from votes b where b.billed_u > 0 and b.option is null
union all
select 'vote_without_poll', b.poll_id, format('%s votes', count(*))
  from votes b where not exists (select from polls p where p.id = b.poll_id and p.status <> 'running')
 group by b.poll_id
union all
select 'key_without_poll', i.poll_id, format('key of %s for %s', i.principal, i.entry_point)
  from idempotency i where i.poll_id is not null and not exists (select from polls p where p.id = i.poll_id)
union all
select 'card_credit', coalesce(t.idem, 'card:' || s.processor_id), format('ledger %s, checkout %s',
         coalesce(t.amount_u::text, 'nothing'), coalesce((s.amount_cents * 10000::bigint)::text, 'nothing'))
  from (select * from transfers where kind = 'credit' and debit = '00000000-0000-4000-8000-000000000004'
           and idem not like '%:reinstated:%') t
  full join (select * from checkouts where state = 'credited') s on t.idem = 'card:' || s.processor_id
 where (t.amount_u = s.amount_cents * 10000::bigint and t.credit = s.account_id) is not true
union all
select 'card_reversal', coalesce(t.processor_id, s.processor_id), format('ledger %s, checkout %s',
         coalesce(t.amount_u, 0), coalesce((s.reversed_cents * 10000::bigint)::text, 'nothing'))
  from (select coalesce(nullif(split_part(idem, ':', 2), ''), idem) as processor_id,
               sum(case kind when 'reversal' then amount_u else -amount_u end) as amount_u,
               array_agg(distinct case kind when 'reversal' then debit else credit end) as accounts
          from transfers
         where (kind = 'reversal' and credit = '00000000-0000-4000-8000-000000000004')
            or (kind = 'credit' and debit = '00000000-0000-4000-8000-000000000004' and idem like '%:reinstated:%')
         group by 1) t
  full join (select * from checkouts where state = 'credited') s using (processor_id)
 where (coalesce(t.amount_u, 0) = s.reversed_cents * 10000::bigint
        and (t.accounts is null or t.accounts = array[s.account_id])) is not true
union all
select 'chain_credit', coalesce(t.idem, 'deposit:' || d.id), format('ledger %s, deposit %s',
         coalesce(t.amount_u::text, 'nothing'), coalesce(d.amount_u::text, 'nothing'))
  from (select * from transfers where kind = 'credit' and debit = '00000000-0000-4000-8000-000000000005') t
  full join (select * from deposits where state = 'credited') d on t.idem = 'deposit:' || d.id
 where (t.amount_u = d.amount_u and t.credit = d.account_id) is not true
$$;
