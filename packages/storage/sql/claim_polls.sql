-- Like claim_several, but without flex polls that first need money set aside: claim_poll_again claims those. Called by
-- workers of the previous release.
create or replace function claim_polls(p_ids text[], p_worker text, p_lease_ms integer, p_schema integer, p_max_claims integer)
returns table (id text, result_id text, account_id uuid, tenant text, awaited boolean, lease_epoch integer, claims integer,
  spec jsonb, schema_version smallint, entry_point text, request_id text, traceparent text, audit_version text,
  canceled_at timestamptz, created_at timestamptz, deadline_at timestamptz, run_until timestamptz)
language sql as $$
  select * from claim_several(p_ids, p_worker, p_lease_ms, p_schema, p_max_claims, 0, 0)
$$;
