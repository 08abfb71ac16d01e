-- Adds a day of metadata to the sums of its month, until about p_limit rows were added; returns how many. The first day that is
-- left of those that ended more than an hour ago: no transaction that counts in it lasts so long. Who deletes a summed day
-- subtracts it, see empty_polls; the row of usage_names is the lock between the two. Of one day the rows of a month are locked in
-- the order of empty_polls; further days would lock rows of the same names once more.
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
