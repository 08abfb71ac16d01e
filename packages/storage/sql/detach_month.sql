-- Detaches the partitions of a month from their tables.
create or replace function detach_month(p_month months, p_what text) returns text
language plpgsql set search_path = public, pg_temp as $$
declare
  v_name text;
begin
  for v_name in select name from monthly_tables(p_month) where goes_with = p_what loop
    execute format('alter table %I detach partition %I', v_name, v_name || '_' || p_month.name);
  end loop;
  return format('detached %s of %s', p_what, p_month.name);
end $$;
