-- Deletes ended polls: what their callers wrote, what models wrote to them, and whose they were. What the books and the
-- published figures are made of stays, as ids and numbers. Every way to delete a poll ends here. Returns those that it
-- emptied: not the running ones, and not those that were empty before.
create or replace function empty_polls(p_ids text[]) returns setof text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_ids text[];
  v_pair record;
begin
  -- In one order, so that two that delete the same polls do not wait for each other in a circle.
  select coalesce(array_agg(id), '{}') into v_ids
    from (select id from polls where id = any(p_ids) and status <> 'running' and (spec ? 'question' or account_id is not null)
           order by id for update) p;
  if v_ids = '{}' then return; end if;

  delete from poll_labels l using polls p, jsonb_each_text(p.metadata) pair
   where p.id = any(v_ids) and l.account_id = p.account_id and l.label = label_of(pair.key, pair.value)
     and l.created_at = p.created_at and l.poll_id = p.id;
  -- What is counted for a pair of metadata goes with the last poll that has it: the sums of a day stay, the text does not.
  for v_pair in
    select distinct p.account_id, (p.finished_at at time zone 'utc')::date as day, pair.key, pair.value
      from polls p, jsonb_each_text(p.metadata) pair where p.id = any(v_ids) and p.account_id is not null
     order by 1, 2, 3, 4
  loop
    if not exists (
      select from poll_labels l
       where l.account_id = v_pair.account_id and l.label = label_of(v_pair.key, v_pair.value)
         and l.created_at >= (v_pair.day - 2)::timestamp at time zone 'utc'
         and l.created_at < (v_pair.day + 1)::timestamp at time zone 'utc') then
      delete from usage_labels u
       where u.account_id = v_pair.account_id and u.day = v_pair.day and u.name = v_pair.key and u.value = v_pair.value;
      delete from usage_names n
       where n.account_id = v_pair.account_id and n.day = v_pair.day and n.name = v_pair.key
         and not exists (select from usage_labels u where u.account_id = n.account_id and u.name = n.name and u.day = n.day);
    end if;
  end loop;
  update batch_rows r set custom_id = p.id, request = null, gold = null, error = null
    from polls p where p.id = any(v_ids) and r.batch_id = p.batch_id and r.line = p.batch_line;
  -- The seed too: with it, a guessed question could be compared with the published hash of its receipt.
  update polls
     set account_id = null, tenant = null, key_id = null, request_id = null, traceparent = null, context_id = null,
         metadata = null, webhook_url = null, expires_at = null, spec = spec - '{question,options,saved_panel,caller,seed}'::text[]
   where id = any(v_ids);
  update results
     set account_id = null, winning_option = null, detail = '{}', expires_at = null, emptied_at = now()
   where poll_id = any(v_ids);
  update votes set labels = '{}' where poll_id = any(v_ids);
  delete from feedback where poll_id = any(v_ids);
  -- What was not delivered yet has nothing left to report.
  delete from webhook_events where data ? 'session_id' and data ->> 'session_id' = any(v_ids);
  delete from idempotency where poll_id = any(v_ids);
  update dead_letters set seen_at = coalesce(seen_at, now()) where poll_id = any(v_ids);
  return query select unnest(v_ids);
end $$;
