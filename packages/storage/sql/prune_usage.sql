-- Deletes usage by metadata of months before first_usage_month, about p_limit rows at most; returns how many.
create or replace function prune_usage(p_limit integer) returns integer language plpgsql as $$
declare
  v_day usage_names;
  v_rows integer;
  v_pruned integer := 0;
begin
  for v_day in
    select * from usage_names where day < first_usage_month() order by day limit p_limit for update skip locked
  loop
    delete from usage_label_months
     where account_id = v_day.account_id and name = v_day.name and month = date_trunc('month', v_day.day::timestamp)::date;
    delete from usage_labels where account_id = v_day.account_id and name = v_day.name and day = v_day.day;
    get diagnostics v_rows = row_count;
    delete from usage_names where account_id = v_day.account_id and name = v_day.name and day = v_day.day;
    v_pruned := v_pruned + 1 + v_rows;
    exit when v_pruned >= p_limit;
  end loop;
  return v_pruned;
end $$;
