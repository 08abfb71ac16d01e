-- Months of an account's usage by metadata that are not the sums of their days. Names and values are texts of callers,
-- so they are not included in the output.
create or replace function check_usage_months() returns table (rule text, subject text, found text)
language sql stable as $$
with
summed as (
  select l.account_id, date_trunc('month', l.day::timestamp)::date as month, l.name, l.value, sum(l.polls) as polls,
         sum(l.completed) as completed, sum(l.failed) as failed, sum(l.canceled) as canceled,
         sum(l.split_or_partial) as split_or_partial, sum(l.cost_u) as cost_u, sum(l.saved_u) as saved_u,
         sum(l.ms_counts) as ms_counts, sum(l.cost_counts) as cost_counts
    from usage_labels l join usage_names n using (account_id, day, name)
   where n.summed and l.day >= first_usage_month()
   group by 1, 2, 3, 4
)
select 'usage_months', account_id::text, format('%s: %s pairs of metadata are not the sums of their days', month, count(*))
  from summed s full join (select * from usage_label_months where month >= first_usage_month()) m
       using (account_id, month, name, value)
 where (s.polls, s.completed, s.failed, s.canceled, s.split_or_partial, s.cost_u, s.saved_u, s.ms_counts, s.cost_counts)
       is distinct from
       (m.polls, m.completed, m.failed, m.canceled, m.split_or_partial, m.cost_u, m.saved_u, m.ms_counts, m.cost_counts)
 group by account_id, month
$$;
