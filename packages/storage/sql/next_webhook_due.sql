-- When to look for deliveries of a receiver again: at its next one, and not before it has rested. One that is due and was
-- left because of a limit is looked for again after a moment.
create or replace function next_webhook_due(p_receiver bigint, p_resting_until timestamptz) returns timestamptz
language sql volatile set search_path = public, pg_temp as $$
  select greatest(p_resting_until, coalesce(
    (select case when due_at <= now() then now() + interval '500 milliseconds' else due_at end
       from webhook_deliveries where receiver_id = p_receiver and status = 'pending' order by due_at limit 1),
    'infinity'));
$$;
