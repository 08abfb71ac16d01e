-- Adds rows to a batch that is being uploaded: an array of line, custom_id, request, gold. Returns those that were left
-- out because an earlier row, known_line, has the same custom_id. Safe to repeat. Raises EP007 if the account is moving
-- to another cell: the move would have to wait for the upload.
create or replace function add_batch_rows(p_id text, p_rows jsonb)
returns table (line integer, custom_id text, known_line integer)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  v_added integer;
  v_account uuid;
begin
  update batches set loading_until = now() + interval '2 minutes' where id = p_id and status = 'loading'
  returning account_id into v_account;
  if not found then
    raise exception 'batch % takes no rows', p_id using errcode = 'EP009';
  end if;
  perform refuse_moved(v_account);
  insert into batch_rows (batch_id, line, custom_id, request, gold)
  select p_id, r.line, r.custom_id, r.request, r.gold
    from jsonb_to_recordset(p_rows) as r (line integer, custom_id text, request jsonb, gold text)
   order by r.line
  on conflict do nothing;
  get diagnostics v_added = row_count;
  if v_added = jsonb_array_length(p_rows) then
    return;
  end if;
  return query
  select r.line, r.custom_id, known.line
    from jsonb_to_recordset(p_rows) as r (line integer, custom_id text)
   -- One lookup for each row: as a join it may read the whole batch.
   cross join lateral (select line from batch_rows where batch_id = p_id and custom_id = r.custom_id offset 0) known
   where known.line <> r.line
   order by r.line;
end $$;
