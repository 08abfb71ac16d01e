-- Deletes expired rows, at most p_limit of each kind; returns how many. ctids are passed as an array, which is read row
-- by row: with old statistics, a subquery may be planned as a join with the whole table.
create or replace function prune_expired(p_limit integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_pruned integer := 0;
  v_rows integer;
  v_audits text[];
begin
  delete from idempotency where ctid = any(array(
    select ctid from idempotency where expires_at <= now() limit p_limit for update skip locked));
  get diagnostics v_rows = row_count;
  v_pruned := v_pruned + v_rows;

  delete from nonces where ctid = any(array(
    select ctid from nonces where expires_at <= now() limit p_limit for update skip locked));
  get diagnostics v_rows = row_count;
  v_pruned := v_pruned + v_rows;

  delete from logins where ctid = any(array(
    select ctid from logins where expires_at <= now() limit p_limit for update skip locked));
  get diagnostics v_rows = row_count;
  v_pruned := v_pruned + v_rows;

  -- Left over if no worker repeats deletions: by now Redis has no record of these polls.
  delete from deleted_runs where ctid = any(array(
    select ctid from deleted_runs where deleted_at < now() - interval '1 hour' limit p_limit for update skip locked));
  get diagnostics v_rows = row_count;
  v_pruned := v_pruned + v_rows;

  delete from heartbeats where ctid = any(array(
    select ctid from heartbeats where minute < now() - interval '32 days' limit p_limit for update skip locked));
  get diagnostics v_rows = row_count;
  v_pruned := v_pruned + v_rows;

  -- The processor repeats an event for three days, and lists it for thirty.
  delete from processor_events where ctid = any(array(
    select ctid from processor_events where received_at < now() - interval '31 days' limit p_limit for update skip locked));
  get diagnostics v_rows = row_count;
  v_pruned := v_pruned + v_rows;

  delete from caller_days where ctid = any(array(
    select ctid from caller_days where day < (now() at time zone 'utc')::date - 90 limit p_limit for update skip locked));
  get diagnostics v_rows = row_count;
  v_pruned := v_pruned + v_rows;

  -- Of those whose audit was made, all are deleted with it. The newest 2,000 others of a roster version are needed for
  -- tenants' shares (draw_audit), and looked for once per version, whatever the statistics say: once per draw takes as
  -- long as the square of their number. After three days no poll runs any more and no job waits.
  delete from audit_draws where ctid = any(array(
    with old as materialized (
      select v.version, before.drawn_at
        from roster_versions v
       cross join lateral (select drawn_at from audit_draws where roster_version = v.version
                            order by drawn_at desc offset 2000 limit 1) before)
    select d.ctid
      from old join audit_draws d on d.roster_version = old.version and d.drawn_at <= old.drawn_at
     where d.drawn_at < now() - interval '3 days'
       and not exists (select from audits a where a.poll_id = d.poll_id)
       and not exists (select from audit_jobs j where j.poll_id = d.poll_id)
     limit p_limit for update of d skip locked));
  get diagnostics v_rows = row_count;
  v_pruned := v_pruned + v_rows;

  -- Of deleted polls.
  delete from audit_draws where ctid = any(array(
    select ctid from audit_draws where poll_id is null and drawn_at < now() - interval '1 year'
     limit p_limit for update skip locked));
  get diagnostics v_rows = row_count;
  v_pruned := v_pruned + v_rows;

  delete from canary_results where ctid = any(array(
    select ctid from canary_results where day < (now() at time zone 'utc')::date - 30 limit p_limit for update skip locked));
  get diagnostics v_rows = row_count;
  v_pruned := v_pruned + v_rows;

  -- Failed payments are kept for enquiries; their authorizations expired long ago.
  delete from deposits where ctid = any(array(
    select ctid from deposits where state = 'failed' and closed_at < now() - interval '90 days'
     limit p_limit for update skip locked));
  get diagnostics v_rows = row_count;
  v_pruned := v_pruned + v_rows + prune_webhooks(p_limit) + prune_batches(p_limit) + prune_usage(p_limit)
              + sum_usage_months(p_limit);

  -- No worker asks for these audits any more, because audits were switched off. Last, because every poll shares the
  -- rows of provider_spend: all are locked in order, after the audit pool, as in claim_audit.
  v_audits := array(
    select poll_id from audit_jobs where created_at < now() - interval '2 days' and lease_until < now()
     limit p_limit for update skip locked);
  if v_audits <> '{}' then
    perform 1 from balances where account_id = '00000000-0000-4000-8000-000000000006' for no key update;
    perform 1 from provider_spend order by shard for update;
    -- Sums of months are locked in the order of countAudits.
    perform drop_audit(poll_id) from (
      select poll_id from audit_jobs where poll_id = any(v_audits) order by roster_version, heard ->> 'asked_order') j;
  end if;
  return v_pruned + cardinality(v_audits);
end $$;
