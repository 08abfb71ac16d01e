-- Ends an attempt at an audit: 'stored', 'deleted' (its poll was deleted meanwhile), 'dropped' (on request), or
-- 'fenced' if a later attempt has it. A repetition after a lost answer returns 'stored' again.
-- p: poll_id, epoch, cost_u, and either models, votes (of the models asked in the audit) and winner, or drop.
create or replace function finish_audit(p jsonb) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_id constant text := p ->> 'poll_id';
  v_job audit_jobs;
begin
  delete from audit_jobs where poll_id = v_id and lease_epoch = (p ->> 'epoch')::integer returning * into v_job;
  if not found then
    perform 1 from audits where poll_id = v_id;
    return case when found then 'stored' else 'fenced' end;
  end if;
  perform settle_audit(v_job, (p ->> 'cost_u')::bigint);
  if p ? 'drop' or is_forgotten(v_id) then
    perform note_unmade_audit(v_job);
    return case when p ? 'drop' then 'dropped' else 'deleted' end;
  end if;
  perform store_audit(v_job, p);
  return 'stored';
end $$;
