-- Recreates a dropped month's partitions for polls, when an account with polls of that month moves here. The month's
-- row stays marked as dropped: its holds need no poll. Returns the month; null if nothing was missing.
create or replace function restore_month(p_poll text) returns text
language plpgsql set search_path = public, pg_temp as $$
declare
  v_month months;
  v_table record;
begin
  lock table months in share row exclusive mode;
  select * into v_month from months m where p_poll >= first_poll and p_poll < next_poll and not has_polls(m);
  if not found then
    return null;
  end if;
  for v_table in select * from monthly_tables(v_month) where goes_with = 'polls' loop
    -- Detached but not dropped yet.
    execute format('drop table if exists %I', v_table.name || '_' || v_month.name);
    perform make_partition(v_month.name, v_table.name, v_table.from_id, v_table.to_id);
  end loop;
  return v_month.name;
end $$;
