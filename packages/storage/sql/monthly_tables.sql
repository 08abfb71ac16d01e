-- The tables that are partitioned by month, and the bounds of a month's ids. They are dropped in this order, in which
-- finish_poll takes its locks. goes_with: when a table is dropped: together with polls, or by the webhooks' own time.
create or replace function monthly_tables(p_month months)
returns table (name text, goes_with text, from_id text, to_id text) language sql stable as $$
  values ('polls', 'polls', p_month.first_poll, p_month.next_poll),
         ('votes', 'polls', p_month.first_poll, p_month.next_poll),
         ('results', 'polls', p_month.first_poll, p_month.next_poll),
         ('poll_labels', 'polls', p_month.first_poll, p_month.next_poll),
         ('webhook_events', 'webhooks', time_ids('msg_', p_month.starts_at), time_ids('msg_', p_month.ends_at)),
         ('webhook_deliveries', 'webhooks', time_ids('wd_', p_month.starts_at), time_ids('wd_', p_month.ends_at))
$$;
