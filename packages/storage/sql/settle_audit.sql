-- Charges the audit pool p_cost_u for an audit's newest attempt and releases the rest. Once per attempt.
create or replace function settle_audit(p_job audit_jobs, p_cost_u bigint) returns void language plpgsql as $$
begin
  if ledger_resolve('hold:audit:' || p_job.poll_id || ':' || p_job.lease_epoch, least(p_cost_u, p_job.max_u))
     and p_job.spend_shard is not null then
    perform settle_spend(p_job.spend_shard, p_job.held_at, p_job.max_u, p_cost_u);
  end if;
end $$;
