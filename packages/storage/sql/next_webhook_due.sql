-- When to look for deliveries of a receiver again: at its next one, and not before it has rested. p_pause: how long one
-- that is due waits because it was left for a limit.
create or replace function next_webhook_due(p_receiver bigint, p_resting_until timestamptz, p_pause interval)
returns timestamptz language sql volatile set search_path = public, pg_temp as $$
  select greatest(p_resting_until, coalesce(
    (select greatest(due_at, now() + p_pause)
       from webhook_deliveries where receiver_id = p_receiver and status = 'pending' order by due_at limit 1),
    'infinity'));
$$;
