-- A bound that is below all ids made from a uuidv7() at p_at or later, and above those made earlier.
create or replace function time_ids(p_prefix text, p_at timestamptz) returns text language sql immutable as $$
  select p_prefix || case when isfinite(p_at) then lpad(to_hex((extract(epoch from p_at) * 1000)::bigint), 12, '0') else '' end
$$;
