-- Claims several polls for one worker as claim_reserved_poll does each. It waits for no row, so that it is part of no deadlock: what
-- another transaction has locked gets no row here, like what cannot be claimed, and is for claim_reserved_poll to wait for.
create or replace function claim_polls(p_ids text[], p_worker text, p_lease_ms integer, p_schema integer, p_max_claims integer)
returns table (id text, result_id text, account_id uuid, tenant text, awaited boolean, lease_epoch integer, claims integer,
  spec jsonb, schema_version smallint, entry_point text, request_id text, traceparent text, audit_version text,
  canceled_at timestamptz, created_at timestamptz, deadline_at timestamptz, run_until timestamptz)
language plpgsql
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  -- Which months to look into: a plan does not see that in an array.
  v_first constant text := (select min(wanted collate "C") from unnest(p_ids) wanted);
  v_last constant text := (select max(wanted collate "C") from unnest(p_ids) wanted);
  v_free text[];
begin
  v_free := array(
    select p.id from polls p
     where p.id = any(p_ids) and p.id >= v_first and p.id <= v_last
       and p.finished_at is null and (p.lease_epoch = 0 or p.spend_shard is null)
       and (p.lease_owner is null or p.lease_until < now()) and p.schema_version <= p_schema and p.claims < p_max_claims
       for no key update skip locked);
  return query
  update polls p
     set lease_epoch = p.lease_epoch + 1, lease_owner = p_worker, claims = p.claims + 1,
         lease_until = now() + p_lease_ms * interval '1 millisecond',
         run_until = now() + p.run_limit_ms * interval '1 millisecond'
   where p.id = any(v_free) and p.id >= v_first and p.id <= v_last
  returning p.id, p.result_id, p.account_id, p.tenant, p.awaited, p.lease_epoch, p.claims, p.spec, p.schema_version,
            p.entry_point, p.request_id, p.traceparent, p.audit_version, p.canceled_at, p.created_at, p.deadline_at, p.run_until;
end $$;
