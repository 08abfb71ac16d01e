-- Stores a completed audit. p: models and votes of the models asked in the audit, winner, cost_u.
create or replace function store_audit(p_job audit_jobs, p jsonb) returns void language sql as $$
  insert into audits (poll_id, roster_version, asked_order, threshold, option_count, seats, votes, said, stopped_at,
                      reason, winner, cost_u)
  select p_job.poll_id, p_job.roster_version, h ->> 'asked_order', (h ->> 'threshold')::double precision,
         (h ->> 'option_count')::smallint, seats_of(r.models, (h -> 'models') || (p -> 'models')),
         numbers_of((h -> 'votes') || (p -> 'votes'))::smallint[], numbers_of(h -> 'said'),
         jsonb_array_length(h -> 'models'), h ->> 'reason', (p ->> 'winner')::smallint, (p ->> 'cost_u')::bigint
    from roster_versions r, (select p_job.heard as h) heard where r.version = p_job.roster_version
$$;
