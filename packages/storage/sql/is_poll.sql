-- Rules for every poll, in constraint polls_rules. A function, like is_transfer, because a poll is written three times.
create or replace function is_poll(p_status text, p_lane text, p_finished_at timestamptz) returns boolean
language plpgsql immutable as $$
begin
  return case p_status when 'running' then p_finished_at is null when 'completed' then p_finished_at is not null
                       when 'failed' then p_finished_at is not null else false end
     and (p_lane = 'standard' or p_lane = 'flex');
end $$;
