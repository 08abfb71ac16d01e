-- The tables that are kept by month, and what ids of a month lie between. Dropped in this order, which is that in which
-- finish_poll takes its locks. goes_with: polls go when their time is over, webhooks by their own.
create or replace function monthly_tables(p_month months)
returns table (name text, goes_with text, from_id text, to_id text) language sql stable as $$
  values ('polls', 'polls', p_month.first_poll, p_month.next_poll),
         ('votes', 'polls', p_month.first_poll, p_month.next_poll),
         ('results', 'polls', p_month.first_poll, p_month.next_poll),
         ('poll_labels', 'polls', p_month.first_poll, p_month.next_poll),
         ('webhook_events', 'webhooks', time_ids('msg_', p_month.starts_at), time_ids('msg_', p_month.ends_at)),
         ('webhook_deliveries', 'webhooks', time_ids('wd_', p_month.starts_at), time_ids('wd_', p_month.ends_at))
$$;
