-- Called when a poll that was selected for an audit has ended. Stores the audit if no more votes are needed, otherwise
-- the job of asking the other models. A lock makes these irrelevant only in the order that the record is about.
-- p_heard: asked_order, threshold, option_count, models (as they answered), votes, said, reason, winner, max_u.
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
  if v_heard = cardinality(v_roster.models)
     or (p_heard ->> 'reason' = 'mathematical_lock' and p_heard ->> 'asked_order' = v_roster.asking_order) then
    insert into audits (poll_id, roster_version, asked_order, threshold, option_count, seats, votes, said, stopped_at,
                        reason, winner)
    select p_poll_id, p_version, p_heard ->> 'asked_order', (p_heard ->> 'threshold')::double precision,
           (p_heard ->> 'option_count')::smallint, seats_of(v_roster.models, p_heard -> 'models'),
           numbers_of(p_heard -> 'votes')::smallint[], numbers_of(p_heard -> 'said'), v_heard, p_heard ->> 'reason',
           (p_heard ->> 'winner')::smallint;
  else
    insert into audit_jobs (poll_id, roster_version, heard, max_u)
    values (p_poll_id, p_version, p_heard, (p_heard ->> 'max_u')::bigint);
  end if;
end $$;
