-- Compares what accounts were charged for polls on one UTC day in the ledger and in their usage. Transfers of a day are
-- in the pages of that day and of the next.
create or replace function check_usage(p_day date) returns table (rule text, subject text, found text)
language plpgsql stable set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
  v_first constant bigint :=
    coalesce((select min(first_id) from ledger_pages where day >= p_day), closed_to() + 1);
  v_last constant bigint :=
    coalesce((select min(first_id) - 1 from ledger_pages where day > p_day + 1), 9223372036854775807);
begin
  return query
with
captured as (
  select t.debit as account_id, sum(t.amount_u) as cost_u
    from transfers t
   where t.id between v_first and v_last and t.kind = 'post' and t.poll_id is not null
     and t.debit <> '00000000-0000-4000-8000-000000000001'
     and t.created_at >= p_day::timestamp at time zone 'utc'
     and t.created_at < (p_day + 1)::timestamp at time zone 'utc'
   group by t.debit
),
counted as (
  select account_id, sum(cost_u) as cost_u
    from (select account_id, cost_u from usage_days where day = p_day
          union all
          select account_id, -cost_u from moved_usage where day = p_day) parts
   group by account_id
)
select 'usage_cost', coalesce(c.account_id, u.account_id)::text,
       format('%s: captured %s, usage says %s', p_day, coalesce(c.cost_u, 0), coalesce(u.cost_u, 0))
  from captured c full join counted u using (account_id)
 where coalesce(c.cost_u, 0) <> coalesce(u.cost_u, 0);
end $$;
