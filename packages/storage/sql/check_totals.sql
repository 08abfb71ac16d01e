-- Compares balances and payments with the totals of closed pages plus the transfers after them, account by account.
create or replace function check_totals() returns table (rule text, subject text, found text) language sql stable as $$
with
totals as materialized (
  select account_id, sum(posted_u)::bigint as posted_u, sum(used_u)::bigint as used_u, sum(held_u)::bigint as held_u,
         sum(reversed_u)::bigint as reversed_u, sum(card_u)::bigint as card_u,
         sum(card_reversed_u)::bigint as card_reversed_u, sum(chain_u)::bigint as chain_u
    from (select * from ledger_sums
          union all
          select * from sum_transfers(closed_to(), 9223372036854775807)) parts
   group by account_id
),
books as materialized (
  select b.*, coalesce(t.posted_u, 0) as t_posted_u, coalesce(t.used_u, 0) as t_used_u, coalesce(t.held_u, 0) as t_held_u,
         coalesce(t.reversed_u, 0) as t_reversed_u
    from balances b left join totals t using (account_id)
),
cards as materialized (
  select account_id, sum(amount_cents) * 10000 as credited_u, sum(reversed_cents) * 10000 as reversed_u
    from checkouts where state = 'credited' group by account_id
),
chain as materialized (
  select account_id, sum(amount_u) as credited_u from deposits where state = 'credited' group by account_id
)

select 'trial_balance', 'all accounts', format('running and derived balances sum to %s', total)
  from (select coalesce((select sum(posted_u) from balances), 0) + coalesce((select sum(posted_u) from totals t
          where not exists (select from balances b where b.account_id = t.account_id)), 0) as total) t
 where total <> 0
union all
select 'posted', b.account_id::text, format('running %s, transfers %s', b.posted_u, b.t_posted_u)
  from books b where b.posted_u <> b.t_posted_u
union all
select 'held', b.account_id::text, format('running %s, open holds %s', b.held_u, b.t_held_u)
  from books b where b.held_u <> b.t_held_u
union all
select 'used', b.account_id::text, format('running %s, captures %s', b.used_u, b.t_used_u)
  from books b where b.used_u <> b.t_used_u
union all
select 'identity', b.account_id::text, format('credited %s - used %s - available %s is not held %s',
         b.t_posted_u + b.t_used_u, b.used_u, b.posted_u - b.held_u, b.held_u)
  from books b where b.t_posted_u + b.t_used_u - b.used_u - (b.posted_u - b.held_u) <> b.held_u
union all
select 'negative_available', b.account_id::text, format('available %s', b.posted_u - b.held_u)
  from books b where b.posted_u - b.held_u < 0 and not b.allow_negative
union all
select 'negative_unexplained', b.account_id::text, 'may be negative without a reversal'
  from books b where b.allow_negative and b.t_reversed_u = 0
union all
select 'no_balance', a.id::text, 'an account that can hold money has no balance row'
  from accounts a where a.kind in ('user', 'free_pool', 'audit_pool')
   and not exists (select from balances b where b.account_id = a.id)
union all
select 'card_credit', coalesce(t.account_id, c.account_id)::text, format('ledger %s, checkouts %s',
         coalesce(t.card_u, 0), coalesce(c.credited_u, 0))
  from totals t full join cards c using (account_id) where coalesce(t.card_u, 0) <> coalesce(c.credited_u, 0)
union all
select 'card_reversal', coalesce(t.account_id, c.account_id)::text, format('ledger %s, checkouts %s',
         coalesce(t.card_reversed_u, 0), coalesce(c.reversed_u, 0))
  from totals t full join cards c using (account_id) where coalesce(t.card_reversed_u, 0) <> coalesce(c.reversed_u, 0)
union all
select 'chain_credit', coalesce(t.account_id, d.account_id)::text, format('ledger %s, deposits %s',
         coalesce(t.chain_u, 0), coalesce(d.credited_u, 0))
  from totals t full join chain d using (account_id) where coalesce(t.chain_u, 0) <> coalesce(d.credited_u, 0)
union all
select 'moves', 'all accounts', format('ledger %s, moves %s', l.posted_u, m.amount_u)
  from (select coalesce(sum(posted_u), 0) as posted_u from totals where account_id = '00000000-0000-4000-8000-000000000007') l,
       (select coalesce(sum(case direction when 'out' then amount_u else -amount_u end), 0) as amount_u
          from account_moves where state in ('left', 'arrived')) m
 where l.posted_u <> m.amount_u
union all
select 'held_back', account_id::text, format('running %s, checkouts %s', coalesce(b.held_back_u, 0), coalesce(c.held_back_u, 0))
  from (select account_id, held_back_u from balances where held_back_u > 0) b
  full join (select account_id, sum(held_back_u) as held_back_u from checkouts where held_back_u > 0 group by account_id) c
    using (account_id)
 where coalesce(b.held_back_u, 0) <> coalesce(c.held_back_u, 0)
union all
select 'reserved', account_id::text, format('running %s, batches %s', coalesce(b.reserved_u, 0), coalesce(t.reserved_u, 0))
  from (select account_id, reserved_u from balances where reserved_u > 0) b
  full join (select account_id, sum(reserved_u) as reserved_u from batches
              where status in ('running', 'canceling') and reserved_u > 0 group by account_id) t using (account_id)
 where coalesce(b.reserved_u, 0) <> coalesce(t.reserved_u, 0)
$$;
