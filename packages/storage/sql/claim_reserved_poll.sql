-- Like claim_poll, for a poll whose maximum cost is already set aside (no worker has had it), or that needs no money
-- set aside (no ceiling). A flex poll has nothing set aside before its claim: see claim_poll_again.
create or replace function claim_reserved_poll(p_id text, p_worker text, p_lease_ms integer, p_schema integer, p_max_claims integer)
returns table (id text, result_id text, account_id uuid, tenant text, awaited boolean, lease_epoch integer, claims integer,
  spec jsonb, schema_version smallint, entry_point text, request_id text, traceparent text, audit_version text,
  canceled_at timestamptz, created_at timestamptz, deadline_at timestamptz, run_until timestamptz)
language plpgsql
-- A generic plan prunes to one month at run time, and need not be made for each poll.
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  return query
  update polls p
     set lease_epoch = p.lease_epoch + 1, lease_owner = p_worker, claims = p.claims + 1,
         lease_until = now() + p_lease_ms * interval '1 millisecond',
         run_until = now() + p.run_limit_ms * interval '1 millisecond'
   where p.id = p_id and p.finished_at is null and (p.lease_epoch = 0 or p.spend_shard is null)
     and not (p.lane = 'flex' and p.spend_shard is null and coalesce(p.provider_max_u, 0) > 0)
     and (p.lease_owner is null or p.lease_until < now()) and p.schema_version <= p_schema and p.claims < p_max_claims
  returning p.id, p.result_id, p.account_id, p.tenant, p.awaited, p.lease_epoch, p.claims, p.spec, p.schema_version,
            p.entry_point, p.request_id, p.traceparent, p.audit_version, p.canceled_at, p.created_at, p.deadline_at, p.run_until;
end $$;
