-- The histogram bucket of an amount of usage: 0 for nothing, then eight buckets per doubling.
create or replace function usage_bucket(p_amount bigint) returns integer language sql immutable as $$
  select case when p_amount <= 0 then 0 else 1 + floor(8 * ln(p_amount) / ln(2::double precision))::integer end
$$;
