-- Begins a batch, whose rows are then added; nothing is reserved before start_batch. Safe to repeat with the same id.
--   opened    rows can be added with add_batch_rows, using the batch's id
--   too_many  the account has max_open unended batches, including those being uploaded
--   frozen    an operator froze or closed the account
create or replace function open_batch(p_id text, p_account uuid, p_key_id uuid, p_max_open integer) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform 1 from accounts where id = p_account and frozen_at is null and deleted_at is null for key share;
  if not found then
    return 'frozen';
  end if;
  -- The lock makes the count exact.
  perform pg_advisory_xact_lock(hashtextextended('batches of ' || p_account, 0));
  perform 1 from batches where id = p_id;
  if found then
    return 'opened';
  end if;
  if (select count(*) from batches where account_id = p_account and status in ('loading', 'running', 'canceling')) >= p_max_open then
    return 'too_many';
  end if;
  insert into batches (id, account_id, key_id) values (p_id, p_account, p_key_id);
  return 'opened';
end $$;
