-- Like claim_poll_again, for a poll that at least p_deaths workers have lost. No row, too, while p_worker runs its
-- maximum of such polls: p_max, and half as many for each further loss of any of them, until one runs alone.
create or replace function claim_suspect(p_id text, p_worker text, p_lease_ms integer, p_schema integer, p_deaths integer,
  p_max integer, p_hour_cap_u bigint, p_day_cap_u bigint)
returns table (id text, result_id text, account_id uuid, tenant text, awaited boolean, lease_epoch integer, claims integer,
  spec jsonb, schema_version smallint, entry_point text, request_id text, traceparent text, audit_version text,
  canceled_at timestamptz, created_at timestamptz, deadline_at timestamptz, run_until timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare
  v_claims integer;
  v_others integer;
  v_most_claims integer;
begin
  -- Suspects are claimed one after the other, so that each claim sees the ones before it.
  perform pg_advisory_xact_lock(hashtextextended('suspect of ' || p_worker, 0));
  select p.claims into v_claims from polls p where p.id = p_id;
  select count(*), max(o.claims) - 1 into v_others, v_most_claims
    from polls o
   where o.status = 'running' and o.lease_owner = p_worker and o.lease_until >= now() and o.claims > p_deaths;
  if v_others + 1 > greatest(1, p_max >> least(greatest(v_claims, v_most_claims) - p_deaths, 8)) then
    return;
  end if;
  -- The number of claims is not limited here; the check above limits suspects instead.
  return query select * from claim_poll_again(p_id, p_worker, p_lease_ms, p_schema, 2147483647, p_hour_cap_u, p_day_cap_u);
end $$;
