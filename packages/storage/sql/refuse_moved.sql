-- Raises where an account is being moved to another cell, or has been: the detail names the cell, and is empty before.
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
