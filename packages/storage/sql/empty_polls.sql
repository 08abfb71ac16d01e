-- Deletes ended polls: what their callers and the models wrote, and whose they were. Ids and numbers that the books and
-- published figures are built from stay. Every way to delete a poll ends here. Returns those that it emptied: not
-- running polls, and not those that were empty before.
create or replace function empty_polls(p_ids text[]) returns setof text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_ids text[];
  v_poll record;
  v_pair record;
  v_counted usage_labels;
  v_since timestamptz;
  v_from timestamptz;
  v_until timestamptz;
  v_is_last boolean;
begin
  -- Sorted, so that two calls for the same polls cannot deadlock.
  select coalesce(array_agg(id), '{}') into v_ids
    from (select id from polls where id = any(p_ids) and status <> 'running' and (spec ? 'question' or account_id is not null)
           order by id for update) p;
  if v_ids = '{}' then return; end if;

  -- Locks are taken in the order of accept_poll: keys, accounts, balances.
  perform 1 from idempotency where poll_id = any(v_ids) order by principal, entry_point, key for update;
  delete from idempotency where poll_id = any(v_ids);
  -- No poll of these accounts may be counted meanwhile (see count_usage): it could find a pair that is deleted here.
  -- Days that are over get no more counts.
  perform 1 from accounts a join balances b on b.account_id = a.id
   where a.id in (
           select p.account_id from polls p
            where p.id = any(v_ids) and p.metadata is not null
              and (p.finished_at at time zone 'utc')::date >= (now() at time zone 'utc' - interval '1 hour')::date)
   order by a.id for key share of a for no key update of b;

  -- Rows of other tables are looked up one poll after the other. The planner expects every id in every month, and would
  -- rather read all labels, names or rows of batches to join those of a few polls.
  for v_poll in
    select id, account_id, created_at, metadata from polls where id = any(v_ids) and metadata is not null
  loop
    delete from poll_labels
     where account_id = v_poll.account_id and created_at = v_poll.created_at and poll_id = v_poll.id
       and label = any(array(select label_of(key, value) from jsonb_each_text(v_poll.metadata)));
  end loop;
  -- Counts for a metadata pair are deleted with its last poll of the day: the sums of the day stay, the text does not.
  -- For past days, this lock is needed because they are being added to months or have been; see sum_usage_months.
  for v_pair in
    select distinct p.account_id, (p.finished_at at time zone 'utc')::date as day, pair.key collate "C" as key
      from polls p, jsonb_each_text(p.metadata) pair
     where p.id = any(v_ids) and p.account_id is not null
       and (p.finished_at at time zone 'utc')::date < (now() at time zone 'utc')::date
     order by p.account_id, day, key
  loop
    perform 1 from usage_names
      where account_id = v_pair.account_id and day = v_pair.day and name = v_pair.key for update;
  end loop;
  for v_pair in
    select distinct p.account_id, (p.finished_at at time zone 'utc')::date as day,
           pair.key collate "C" as key, pair.value collate "C" as value,
           date_trunc('month', p.finished_at at time zone 'utc')::date as month
      from polls p, jsonb_each_text(p.metadata) pair where p.id = any(v_ids) and p.account_id is not null
     order by p.account_id, month, key, value, day
  loop
    -- Look at the newest polls first: if the day has other polls with the pair, the first one found is one of them.
    -- Polls accepted in the two days before are read only if there is none.
    v_since := (v_pair.day - 2)::timestamp at time zone 'utc';
    v_from := v_pair.day::timestamp at time zone 'utc';
    v_until := (v_pair.day + 1)::timestamp at time zone 'utc';
    loop
      perform 1 from poll_labels l join polls p on p.id = l.poll_id
        where l.account_id = v_pair.account_id and l.label = label_of(v_pair.key, v_pair.value)
          and l.created_at >= v_from and l.created_at < v_until
          and l.poll_id >= month_ids(v_from - interval '1 day') and l.poll_id < month_ids(v_until + interval '1 day 1 month')
          and p.id >= month_ids(v_from - interval '1 day') and p.id < month_ids(v_until + interval '1 day 1 month')
          and (p.finished_at at time zone 'utc')::date = v_pair.day
        order by l.created_at desc limit 1;
      v_is_last := not found;
      exit when found or v_from = v_since;
      v_until := v_from;
      v_from := v_since;
    end loop;
    if v_is_last then
      delete from usage_labels u
       where u.account_id = v_pair.account_id and u.day = v_pair.day and u.name = v_pair.key and u.value = v_pair.value
      returning * into v_counted;
      if found and exists (select from usage_names n where n.account_id = v_pair.account_id and n.day = v_pair.day
                                                       and n.name = v_pair.key and n.summed) then
        update usage_label_months m
           set polls = m.polls - v_counted.polls, completed = m.completed - v_counted.completed,
               failed = m.failed - v_counted.failed, canceled = m.canceled - v_counted.canceled,
               split_or_partial = m.split_or_partial - v_counted.split_or_partial,
               cost_u = m.cost_u - v_counted.cost_u, saved_u = m.saved_u - v_counted.saved_u,
               ms_counts = m.ms_counts - v_counted.ms_counts, cost_counts = m.cost_counts - v_counted.cost_counts
         where m.account_id = v_pair.account_id and m.name = v_pair.key and m.month = v_pair.month
           and m.value = v_pair.value;
        delete from usage_label_months m
         where m.account_id = v_pair.account_id and m.name = v_pair.key and m.month = v_pair.month
           and m.value = v_pair.value and m.polls = 0;
      end if;
      delete from usage_names n
       where n.account_id = v_pair.account_id and n.day = v_pair.day and n.name = v_pair.key
         and not exists (select from usage_labels u where u.account_id = n.account_id and u.name = n.name and u.day = n.day);
    end if;
  end loop;
  for v_poll in select id, batch_id, batch_line from polls where id = any(v_ids) and batch_id is not null loop
    update batch_rows set custom_id = v_poll.id, request = null, gold = null, error = null
     where batch_id = v_poll.batch_id and line = v_poll.batch_line;
  end loop;
  -- Which questions were audited is forgotten. How many of its polls were is kept until the account is closed: otherwise
  -- it could exceed its share of the audits by deleting its polls.
  delete from audit_draws d using polls p
   where d.poll_id = any(v_ids) and p.id = d.poll_id
     and not exists (select from accounts a where a.id = p.account_id and a.deleted_at is null);
  update audit_draws set question = null, poll_id = null where poll_id = any(v_ids);
  -- Delete the seed too: with it, a guessed question could be checked against the published hash of its receipt.
  update polls
     set account_id = null, tenant = null, key_id = null, request_id = null, traceparent = null, context_id = null,
         metadata = null, webhook_url = null, expires_at = null, spec = spec - '{question,options,saved_panel,caller,seed}'::text[]
   where id = any(v_ids);
  update results
     set account_id = null, winning_option = null, detail = '{}', expires_at = null, emptied_at = now()
   where poll_id = any(v_ids);
  update votes set labels = '{}' where poll_id = any(v_ids);
  delete from feedback where poll_id = any(v_ids);
  -- An undelivered event has nothing left to report.
  delete from webhook_events where data ? 'session_id' and data ->> 'session_id' = any(v_ids);
  -- Redis keeps a record for a quarter of an hour after the end of the run.
  insert into deleted_runs (poll_id)
  select id from polls where id = any(v_ids) and finished_at > now() - interval '1 hour' on conflict do nothing;
  update dead_letters set seen_at = coalesce(seen_at, now()) where poll_id = any(v_ids);
  return query select unnest(v_ids);
end $$;
