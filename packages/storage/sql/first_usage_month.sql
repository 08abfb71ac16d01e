-- The first month for which usage by metadata is kept. Whole months are deleted, each day after at most 400 days.
create or replace function first_usage_month() returns date language sql stable as $$
  select (date_trunc('month', now() at time zone 'utc' - interval '400 days') + interval '1 month')::date
$$;
