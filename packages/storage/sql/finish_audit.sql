-- Ends an attempt at an audit: 'stored', 'deleted' (its poll was deleted meanwhile), 'dropped' (on request), or
-- 'fenced' if a later attempt has it. A repetition after a lost answer returns 'stored' again.
-- p: poll_id, epoch, cost_u, and either models, votes (of the models asked in the audit) and winner, or drop.
create or replace function finish_audit(p jsonb) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_id constant text := p ->> 'poll_id';
  v_job audit_jobs;
  v_models text[];
begin
  delete from audit_jobs where poll_id = v_id and lease_epoch = (p ->> 'epoch')::integer returning * into v_job;
  if not found then
    perform 1 from audits where poll_id = v_id;
    return case when found then 'stored' else 'fenced' end;
  end if;
  perform settle_audit(v_job, (p ->> 'cost_u')::bigint);
  if p ? 'drop' then
    return 'dropped';
  elsif is_forgotten(v_id) then
    return 'deleted';
  end if;
  select models into v_models from roster_versions where version = v_job.roster_version;
  insert into audits (poll_id, roster_version, asked_order, threshold, option_count, seats, votes, said, stopped_at,
                      reason, winner, cost_u)
  select v_id, v_job.roster_version, h ->> 'asked_order', (h ->> 'threshold')::double precision,
         (h ->> 'option_count')::smallint, seats_of(v_models, (h -> 'models') || (p -> 'models')),
         numbers_of((h -> 'votes') || (p -> 'votes'))::smallint[], numbers_of(h -> 'said'),
         jsonb_array_length(h -> 'models'), h ->> 'reason', (p ->> 'winner')::smallint, (p ->> 'cost_u')::bigint
    from (select v_job.heard as h) heard;
  return 'stored';
end $$;
