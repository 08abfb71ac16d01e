-- When to look for deliveries of a receiver again: when its next one is due, but not during a pause. p_pause: how long
-- a due delivery waits if a limit kept it from being claimed.
create or replace function next_webhook_due(p_receiver bigint, p_resting_until timestamptz, p_pause interval)
returns timestamptz language sql volatile set search_path = public, pg_temp as $$
  select greatest(p_resting_until, coalesce(
    (select greatest(due_at, now() + p_pause)
       from webhook_deliveries where receiver_id = p_receiver and status = 'pending' order by due_at limit 1),
    'infinity'));
$$;
