-- Gives a running poll without a holder to p_worker. No row if it has ended, is held, was lost by p_max_claims workers,
-- or was accepted by a release later than p_schema. Called by claim_poll_again and by workers of the previous release.
create or replace function claim_poll(p_id text, p_worker text, p_lease_ms integer, p_schema integer, p_max_claims integer)
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
   where p.id = p_id and p.finished_at is null and (p.lease_owner is null or p.lease_until < now())
     and p.schema_version <= p_schema and p.claims < p_max_claims
  returning p.id, p.result_id, p.account_id, p.tenant, p.awaited, p.lease_epoch, p.claims, p.spec, p.schema_version,
            p.entry_point, p.request_id, p.traceparent, p.audit_version, p.canceled_at, p.created_at, p.deadline_at, p.run_until;
end $$;
