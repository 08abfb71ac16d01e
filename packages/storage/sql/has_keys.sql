-- Whether idempotency keys of this account are kept. Runs as the owner, because workers cannot read them.
create or replace function has_keys(p_account uuid) returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
  select exists (select from idempotency where principal = p_account::text)
$$;
