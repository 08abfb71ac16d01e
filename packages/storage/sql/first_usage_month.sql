-- The first month of which usage by metadata is kept. Months go as a whole, none of their days later than after 400 days.
create or replace function first_usage_month() returns date language sql stable as $$
  select (date_trunc('month', now() at time zone 'utc' - interval '400 days') + interval '1 month')::date
$$;
