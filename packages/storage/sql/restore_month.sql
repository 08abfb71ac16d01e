-- Makes the partitions for polls again that the month of this poll lost when it was dropped: an account comes from another cell
-- with polls of it. Its row says for ever that it was dropped: holds of that time need no poll. Returns it; null: nothing was missing.
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
    -- Detached, and not dropped yet.
    execute format('drop table if exists %I', v_table.name || '_' || v_month.name);
    perform make_partition(v_month.name, v_table.name, v_table.from_id, v_table.to_id);
  end loop;
  return v_month.name;
end $$;
