-- The numbers of a JSON list; null entries stay null.
create or replace function numbers_of(p_list jsonb) returns double precision[] language sql immutable as $$
  select coalesce(array_agg(value::double precision order by place), '{}')
    from jsonb_array_elements_text(p_list) with ordinality as l (value, place)
$$;
