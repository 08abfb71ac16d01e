-- Refuses callers' changes to an account while it moves and after it has left. Locks nothing: rows are changed before
-- it reads the account, and other transactions lock in the opposite order. The move waits for transactions that read
-- the account earlier. The moving command sets a setting; it alone gives no app's role rights on the ledger.
create or replace function refuse_while_moving() returns trigger language plpgsql as $$
declare
  v_row constant jsonb := case tg_op when 'INSERT' then to_jsonb(new) else to_jsonb(old) end;
  v_account constant uuid := v_row ->> tg_argv[0];
  v_cell text;
begin
  if v_account is not null and current_setting('eloquentpoll.moving', true) is distinct from 'on' then
    select coalesce(moved_to, '') into v_cell
      from accounts where id = v_account and (moving_at is not null or keep_until > now());
    if found then
      raise exception 'account % is moving', v_account using errcode = 'EP007', detail = v_cell;
    end if;
  end if;
  if tg_op = 'DELETE' then
    return old;
  end if;
  return new;
end $$;
