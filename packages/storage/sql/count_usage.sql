-- Adds a poll that has just ended to its account's usage of the UTC day, and to that of each metadata pair. p_cost_u:
-- what the account was charged. p_saved_u: see savedByStopping. p_completed, p_canceled, p_split (or partial): 1 or 0.
-- Metadata: up to 50 names per account and day, others are not counted; up to 1000 values per name, then '(other)'.
create or replace function count_usage(p_account uuid, p_key uuid, p_preset text, p_surface text, p_metadata jsonb,
  p_completed integer, p_canceled integer, p_split integer, p_ms bigint, p_cost_u bigint, p_saved_u bigint) returns void
language plpgsql as $$
declare
  v_day constant date := (now() at time zone 'utc')::date;
  v_ms constant numeric := case p_completed when 1 then counted_once(p_ms) else 0 end;
  v_cost constant numeric := case p_completed when 1 then counted_once(p_cost_u) else 0 end;
  v_name text;
  v_value text;
begin
  if p_metadata is not null then
    -- Polls that end in one transaction may have names in any order, so no other poll of the account may be counted at
    -- the same time. For a poll paid by the account, this lock is already held.
    perform 1 from balances where account_id = p_account for no key update;
  end if;
  insert into usage_days as u (account_id, day, key_id, preset, surface, polls, completed, failed, canceled,
                               split_or_partial, cost_u, saved_u, ms_counts, cost_counts)
  values (p_account, v_day, coalesce(p_key, '00000000-0000-0000-0000-000000000000'), p_preset, p_surface, 1, p_completed, 1 - p_completed, p_canceled, p_split,
          p_cost_u, p_saved_u, v_ms, v_cost)
  on conflict (account_id, day, key_id, preset, surface) do update
    set polls = u.polls + 1, completed = u.completed + p_completed, failed = u.failed + 1 - p_completed,
        canceled = u.canceled + p_canceled, split_or_partial = u.split_or_partial + p_split,
        cost_u = u.cost_u + p_cost_u, saved_u = u.saved_u + p_saved_u,
        ms_counts = u.ms_counts + v_ms, cost_counts = u.cost_counts + v_cost;
  if p_metadata is null then
    return;
  end if;

  -- All polls use the same order, because they share the rows.
  for v_name, v_value in select key, value from jsonb_each_text(p_metadata) order by key loop
    if not exists (select from usage_labels
                    where account_id = p_account and day = v_day and name = v_name and value = v_value) then
      update usage_names set value_count = value_count + 1
       where account_id = p_account and day = v_day and name = v_name and value_count < 1000;
      if not found then
        if exists (select from usage_names where account_id = p_account and day = v_day and name = v_name) then
          v_value := '(other)';
        elsif (select count(*) from usage_names where account_id = p_account and day = v_day) < 50 then
          insert into usage_names (account_id, day, name, value_count) values (p_account, v_day, v_name, 1)
          on conflict (account_id, day, name) do update set value_count = usage_names.value_count + 1;
        else
          continue;
        end if;
      end if;
    end if;
    insert into usage_labels as u (account_id, day, name, value, polls, completed, failed, canceled, split_or_partial,
                                   cost_u, saved_u, ms_counts, cost_counts)
    values (p_account, v_day, v_name, v_value, 1, p_completed, 1 - p_completed, p_canceled, p_split, p_cost_u,
            p_saved_u, v_ms, v_cost)
    on conflict (account_id, day, name, value) do update
      set polls = u.polls + 1, completed = u.completed + p_completed, failed = u.failed + 1 - p_completed,
          canceled = u.canceled + p_canceled, split_or_partial = u.split_or_partial + p_split,
          cost_u = u.cost_u + p_cost_u, saved_u = u.saved_u + p_saved_u,
          ms_counts = u.ms_counts + v_ms, cost_counts = u.cost_counts + v_cost;
  end loop;
end $$;
