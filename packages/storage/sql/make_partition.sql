-- Creates a month's partition of one of the monthly_tables as a separate table and then attaches it, without blocking
-- callers. Copies options that an operator set for the newest partition (fillfactor, autovacuum).
create or replace function make_partition(p_month text, p_table text, p_from text, p_to text) returns void
language plpgsql set search_path = public, pg_temp as $$
declare
  v_name constant text := p_table || '_' || p_month;
  v_options text;
begin
  select ' with (' || array_to_string(c.reloptions, ', ') || ')' into v_options
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
   where i.inhparent = p_table::regclass order by c.oid desc limit 1;
  execute format('create table %I (like %I including all)%s', v_name, p_table, coalesce(v_options, ''));
  execute format('alter table %I attach partition %I for values from (%L) to (%L)', p_table, v_name, p_from, p_to);
end $$;
