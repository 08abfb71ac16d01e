-- Raises if an account is moving or has moved to another cell. The detail names that cell, or is empty while it moves.
create or replace function refuse_moved(p_account uuid) returns void
language plpgsql stable as $$
declare
  v_cell text;
begin
  select coalesce(moved_to, '') into v_cell from accounts where id = p_account and (moving_at is not null or moved_to is not null);
  if found then
    raise exception 'account % is moving', p_account using errcode = 'EP007', detail = v_cell;
  end if;
end $$;
