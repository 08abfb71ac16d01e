-- Creates missing partitions for this month and the next p_ahead months. Returns the months it created.
create or replace function keep_months(p_ahead integer) returns setof text
language plpgsql security definer set search_path = public, pg_temp set timezone = 'UTC' set lock_timeout = '500ms' as $$
declare
  v_starts timestamptz;
begin
  if p_ahead not between 1 and 24 then
    raise exception 'months ahead: %, not from 1 to 24', p_ahead using errcode = '22023';
  end if;
  lock table months in share row exclusive mode;
  select max(ends_at) into v_starts from months;
  while v_starts <= now() + p_ahead * interval '1 month' loop
    return next make_month(v_starts);
    v_starts := v_starts + interval '1 month';
  end loop;
end $$;
