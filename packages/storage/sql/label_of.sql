-- The hash by which polls with a metadata pair are found: short for any pair, and the same for the same pair.
create or replace function label_of(key text, value text) returns bytea
language sql immutable strict parallel safe as $$
  select substring(sha256(convert_to(jsonb_build_array(key, value)::text, 'UTF8')) for 16)
$$;
