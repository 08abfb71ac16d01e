-- Empties at most p_limit expired polls that have ended, and returns them. ctids come as an array, as in prune_expired.
create or replace function empty_expired_polls(p_limit integer) returns setof text
language sql security definer set search_path = public, pg_temp as $$
  select empty_polls(array(
    select id from polls where expires_at <= now() and status <> 'running'
     order by expires_at limit p_limit for update skip locked))
$$;
