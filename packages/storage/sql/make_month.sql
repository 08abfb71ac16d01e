-- Makes the partitions of the UTC month that begins at p_starts. They are made aside and attached: statements of callers go
-- on meanwhile. What an operator set for the newest partition (fillfactor, autovacuum) the new one has too.
create or replace function make_month(p_starts timestamptz) returns text
language plpgsql set search_path = public, pg_temp set timezone = 'UTC' as $$
declare
  v_month months;
  v_table record;
  v_options text;
begin
  insert into months (name, starts_at, ends_at, first_poll, next_poll)
  values (to_char(p_starts, 'YYYY_MM'), p_starts, p_starts + interval '1 month',
          month_ids(p_starts), month_ids(p_starts + interval '1 month'))
  returning * into v_month;
  for v_table in select * from monthly_tables(v_month) loop
    select ' with (' || array_to_string(c.reloptions, ', ') || ')' into v_options
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = v_table.name::regclass order by c.oid desc limit 1;
    execute format('create table %I (like %I including all)%s',
                   v_table.name || '_' || v_month.name, v_table.name, coalesce(v_options, ''));
    execute format('alter table %I attach partition %I for values from (%L) to (%L)',
                   v_table.name, v_table.name || '_' || v_month.name, v_table.from_id, v_table.to_id);
  end loop;
  return v_month.name;
end $$;
