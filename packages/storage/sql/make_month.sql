-- Creates the partitions of the UTC month that begins at p_starts.
create or replace function make_month(p_starts timestamptz) returns text
language plpgsql set search_path = public, pg_temp set timezone = 'UTC' as $$
declare
  v_month months;
begin
  insert into months (name, starts_at, ends_at, first_poll, next_poll)
  values (to_char(p_starts, 'YYYY_MM'), p_starts, p_starts + interval '1 month',
          month_ids(p_starts), month_ids(p_starts + interval '1 month'))
  returning * into v_month;
  perform make_partition(v_month.name, t.name, t.from_id, t.to_id) from monthly_tables(v_month) t;
  return v_month.name;
end $$;
