-- Compares what counts against the limits of these keys with the usage in their period and with what their running
-- polls and batches hold. The usage of an account is read once, for all of its keys.
create or replace function check_limits_of(p_keys uuid[]) returns table (rule text, subject text, found text)
language sql stable as $$
with
limits as materialized (
  select * from key_limits where key_id = any(p_keys)
),
used as materialized (
  select u.account_id, u.key_id, u.day, u.cost_u
    from (select account_id, min(period) as since from limits group by account_id) a
   cross join lateral (
     select d.account_id, d.key_id, d.day, sum(d.cost_u) as cost_u from usage_days d
      where d.account_id = a.account_id and d.day >= a.since group by d.account_id, d.key_id, d.day) u
),
spent as (
  select l.key_id, sum(u.cost_u) as cost_u
    from limits l join used u on u.account_id = l.account_id and u.key_id = l.key_id and u.day >= l.period
   group by l.key_id
),
open as materialized (
  select key_id, sum(held_u) as held_u
    from (select p.key_id, h.amount_u as held_u
            from polls p join transfers h on h.idem = 'hold:' || p.id and h.debit = p.account_id
           where p.status = 'running' and p.key_id is not null
          union all
          select key_id, reserved_u from batches where status in ('running', 'canceling') and key_id is not null) o
   group by key_id
)
select 'key_limit_spent', l.key_id::text, format('limit says %s, usage %s', l.spent_u, coalesce(s.cost_u, 0))
  from limits l left join spent s using (key_id) where l.spent_u <> coalesce(s.cost_u, 0)
union all
select 'key_limit_held', l.key_id::text, format('limit says %s, polls and batches %s', l.held_u, coalesce(o.held_u, 0))
  from limits l left join open o using (key_id) where l.held_u <> coalesce(o.held_u, 0)
$$;
