-- Counts an audit that was drawn and could not be made, beside the sums of those that were.
create or replace function note_unmade_audit(p_job audit_jobs) returns void language sql as $$
  insert into audit_months (roster_version, asked_order, month, tally, unmade)
  values (p_job.roster_version, p_job.heard ->> 'asked_order', to_char(now() at time zone 'utc', 'YYYY-MM'),
          '{"audits": 0, "bands": [], "stops": {}}', 1)
  on conflict (roster_version, asked_order, month) do update set unmade = audit_months.unmade + 1
$$;
