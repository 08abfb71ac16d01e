-- Counts a poll that has just ended in its account's usage of the UTC day, and for each pair of its metadata. p_status: of
-- its result, null without one. p_cost_u: what the account was charged. p_saved_u: see savedByStopping.
-- Metadata: an account's day has at most 50 names, others are not counted, and a name 1000 values, others are '(other)'.
create or replace function count_usage(p_poll polls, p_status text, p_cost_u bigint, p_saved_u bigint) returns void
language plpgsql as $$
declare
  v_day constant date := (now() at time zone 'utc')::date;
  v_completed constant integer := (p_poll.status = 'completed')::integer;
  v_canceled constant integer := (p_poll.canceled_at is not null)::integer;
  v_split constant integer := (p_poll.is_close or coalesce(p_status = 'partial', false))::integer;
  v_saved_u constant bigint := coalesce(p_saved_u, 0);
  v_ms constant numeric := v_completed * counted_once(
    (extract(epoch from p_poll.finished_at - p_poll.created_at) * 1000)::bigint);
  v_cost constant numeric := v_completed * counted_once(p_cost_u);
  v_name text;
  v_value text;
begin
  if p_poll.account_id is null then
    return;
  end if;
  insert into usage_days as u (account_id, day, key_id, preset, surface, polls, completed, failed, canceled,
                               split_or_partial, cost_u, saved_u, ms_counts, cost_counts)
  values (p_poll.account_id, v_day, coalesce(p_poll.key_id, '00000000-0000-0000-0000-000000000000'),
          p_poll.spec ->> 'panel_name', p_poll.entry_point, 1, v_completed, 1 - v_completed, v_canceled, v_split,
          p_cost_u, v_saved_u, v_ms, v_cost)
  on conflict (account_id, day, key_id, preset, surface) do update
    set polls = u.polls + 1, completed = u.completed + v_completed, failed = u.failed + 1 - v_completed,
        canceled = u.canceled + v_canceled, split_or_partial = u.split_or_partial + v_split,
        cost_u = u.cost_u + p_cost_u, saved_u = u.saved_u + v_saved_u,
        ms_counts = u.ms_counts + v_ms, cost_counts = u.cost_counts + v_cost;
  if p_poll.metadata is null then
    return;
  end if;

  -- In the same order by all polls, because they share the rows.
  for v_name, v_value in select key, value from jsonb_each_text(p_poll.metadata) order by key loop
    if not exists (select from usage_labels
                    where account_id = p_poll.account_id and day = v_day and name = v_name and value = v_value) then
      update usage_names set value_count = value_count + 1
       where account_id = p_poll.account_id and day = v_day and name = v_name and value_count < 1000;
      if not found then
        if exists (select from usage_names where account_id = p_poll.account_id and day = v_day and name = v_name) then
          v_value := '(other)';
        elsif (select count(*) from usage_names where account_id = p_poll.account_id and day = v_day) < 50 then
          insert into usage_names (account_id, day, name, value_count) values (p_poll.account_id, v_day, v_name, 1)
          on conflict (account_id, day, name) do update set value_count = usage_names.value_count + 1;
        else
          continue;
        end if;
      end if;
    end if;
    insert into usage_labels as u (account_id, day, name, value, polls, completed, failed, canceled, split_or_partial,
                                   cost_u, saved_u, ms_counts, cost_counts)
    values (p_poll.account_id, v_day, v_name, v_value, 1, v_completed, 1 - v_completed, v_canceled, v_split, p_cost_u,
            v_saved_u, v_ms, v_cost)
    on conflict (account_id, day, name, value) do update
      set polls = u.polls + 1, completed = u.completed + v_completed, failed = u.failed + 1 - v_completed,
          canceled = u.canceled + v_canceled, split_or_partial = u.split_or_partial + v_split,
          cost_u = u.cost_u + p_cost_u, saved_u = u.saved_u + v_saved_u,
          ms_counts = u.ms_counts + v_ms, cost_counts = u.cost_counts + v_cost;
  end loop;
end $$;
