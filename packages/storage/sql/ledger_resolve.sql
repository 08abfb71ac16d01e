-- Captures p_amount_u of a hold and releases the rest; 0 releases all. false: the hold was resolved before.
create or replace function ledger_resolve(p_hold_idem text, p_amount_u bigint) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_hold transfers;
begin
  select * into v_hold from transfers where idem = p_hold_idem and kind = 'hold';
  if not found then
    raise exception 'no hold %', p_hold_idem using errcode = 'EP002';
  end if;
  return resolve_hold(v_hold.id, v_hold.debit, v_hold.amount_u, v_hold.poll_id, p_amount_u);
end $$;
