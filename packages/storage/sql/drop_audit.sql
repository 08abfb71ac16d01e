-- Gives an audit up. What the calls of a dead worker cost is unknown: the pool pays their maximum.
create or replace function drop_audit(p_poll_id text) returns void language plpgsql as $$
declare
  v_job audit_jobs;
begin
  delete from audit_jobs where poll_id = p_poll_id returning * into v_job;
  if not found then
    return;
  end if;
  if v_job.lease_epoch > 0 then
    perform settle_audit(v_job, v_job.max_u);
  end if;
  perform note_unmade_audit(v_job);
end $$;
