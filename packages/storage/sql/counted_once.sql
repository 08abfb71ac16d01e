-- A histogram with one entry, in the bucket of p_amount. A histogram is one number: nine decimal digits, from 10^9n
-- upwards, are the count of bucket n, so adding numbers adds all counts.
create or replace function counted_once(p_amount bigint) returns numeric language sql immutable as $$
  select ('1e' || (9 * usage_bucket(p_amount))::text)::numeric
$$;
