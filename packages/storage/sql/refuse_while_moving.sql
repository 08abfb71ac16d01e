-- Keeps what callers change of an account as it is while it moves, and after it has left. It locks nothing: rows are changed
-- before this reads the account, which others lock the other way round. What had read it before the move froze it, the move
-- waits for. The command that moves says so by a setting; with it alone no role of the apps can write what the ledger is made of.
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
