-- Adds a day of metadata usage to the sums of its month, up to about p_limit rows; returns how many. Takes the first
-- remaining day that ended more than an hour ago, so no open transaction can still count in it. Deleting from a summed
-- day also subtracts from the month (empty_polls); the row of usage_names is the lock between the two. Only one day per
-- call: its rows are locked in the order of empty_polls, while a second day would lock rows of the same names again.
create or replace function sum_usage_months(p_limit integer) returns integer language plpgsql as $$
declare
  v_before constant date := (now() at time zone 'utc' - interval '1 hour')::date;
  v_day usage_names;
  v_rows integer;
  v_summed integer := 0;
begin
  for v_day in
    select * from usage_names
     where not summed and day = (select min(day) from usage_names where not summed and day < v_before)
     order by account_id, name limit p_limit for update skip locked
  loop
    insert into usage_label_months as m (account_id, month, name, value, polls, completed, failed, canceled,
                                         split_or_partial, cost_u, saved_u, ms_counts, cost_counts)
    select account_id, date_trunc('month', day::timestamp)::date, name, value, polls, completed, failed, canceled,
           split_or_partial, cost_u, saved_u, ms_counts, cost_counts
      from usage_labels where account_id = v_day.account_id and name = v_day.name and day = v_day.day
     order by value
    on conflict (account_id, name, month, value) do update
      set polls = m.polls + excluded.polls, completed = m.completed + excluded.completed,
          failed = m.failed + excluded.failed, canceled = m.canceled + excluded.canceled,
          split_or_partial = m.split_or_partial + excluded.split_or_partial, cost_u = m.cost_u + excluded.cost_u,
          saved_u = m.saved_u + excluded.saved_u, ms_counts = m.ms_counts + excluded.ms_counts,
          cost_counts = m.cost_counts + excluded.cost_counts;
    get diagnostics v_rows = row_count;
    update usage_names set summed = true
     where account_id = v_day.account_id and day = v_day.day and name = v_day.name;
    v_summed := v_summed + 1 + v_rows;
    exit when v_summed >= p_limit;
  end loop;
  return v_summed;
end $$;
