-- What counts against the limits of keys: what the usage of their period says, and what their running polls and batches hold.
create or replace function check_key_limits() returns table (rule text, subject text, found text)
language sql stable as $$
with
limits as materialized (
  select k.*,
         (select coalesce(sum(u.cost_u), 0) from usage_days u
           where u.account_id = k.account_id and u.day >= k.period and u.key_id = k.key_id) as used_u
    from key_limits k
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
select 'key_limit_spent', l.key_id::text, format('limit says %s, usage %s', l.spent_u, l.used_u)
  from limits l where l.spent_u <> l.used_u
union all
select 'key_limit_held', l.key_id::text, format('limit says %s, polls and batches %s', l.held_u, coalesce(o.held_u, 0))
  from limits l left join open o using (key_id) where l.held_u <> coalesce(o.held_u, 0)
$$;
