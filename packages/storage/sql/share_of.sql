-- Row p_n of p_count when a sum is spread over them evenly; the shares add up to the sum.
create or replace function share_of(p_sum bigint, p_n integer, p_count integer) returns bigint
language sql immutable as $$
  select floor(p_sum::numeric / p_count)::bigint
       + case when p_n < p_sum - floor(p_sum::numeric / p_count)::bigint * p_count then 1 else 0 end
$$;
