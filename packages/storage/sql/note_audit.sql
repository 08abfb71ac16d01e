-- Called when a poll that was selected for an audit has ended: stores the job of completing it. All jobs wait for their
-- turn and for money alike, also those that need no more votes: otherwise the results would decide which audits are made.
-- A lock makes the remaining votes irrelevant only in the order that the record is about.
-- p_heard: asked_order, threshold, option_count, models (as they answered), votes, said, reason, winner, max_u, panel_u.
create or replace function note_audit(p_poll_id text, p_version text, p_heard jsonb) returns void
language plpgsql as $$
declare
  v_roster roster_versions;
  v_heard constant integer := jsonb_array_length(p_heard -> 'models');
begin
  select * into v_roster from roster_versions where version = p_version;
  if not found or v_heard = 0 or is_forgotten(p_poll_id) then
    return;
  end if;
  insert into audit_jobs (poll_id, roster_version, heard, max_u, panel_u, needs_votes)
  values (p_poll_id, p_version, p_heard, (p_heard ->> 'max_u')::bigint,
          -- Workers of the previous release do not name it.
          coalesce((p_heard ->> 'panel_u')::bigint, (p_heard ->> 'max_u')::bigint),
          v_heard < cardinality(v_roster.models)
            and (p_heard ->> 'reason' is distinct from 'mathematical_lock'
                 or p_heard ->> 'asked_order' is distinct from v_roster.asking_order));
end $$;
