-- The part of row p_n when a sum is spread evenly over p_count rows; the parts add up to the sum.
create or replace function share_of(p_sum bigint, p_n integer, p_count integer) returns bigint
language sql immutable as $$
  select floor(p_sum::numeric / p_count)::bigint
       + case when p_n < p_sum - floor(p_sum::numeric / p_count)::bigint * p_count then 1 else 0 end
$$;
