-- Idempotency keys that expire between two times and belong to a poll that does not exist.
create or replace function check_keys(p_from timestamptz, p_to timestamptz)
returns table (rule text, subject text, found text)
language plpgsql stable set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
begin
  return query
select 'key_without_poll', i.poll_id, format('key of %s for %s', i.principal, i.entry_point)
  from idempotency i
 where i.expires_at >= p_from and i.expires_at < p_to and i.poll_id is not null
   -- One lookup for each key: as an anti join it may read the polls of all months.
   and (select true from polls p where p.id = i.poll_id limit 1) is null;
end $$;
