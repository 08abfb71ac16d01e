-- true: the money is set aside. false: there is not enough; nothing changed.
create or replace function ledger_hold(p_account uuid, p_amount_u bigint, p_idem text, p_poll_id text) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  with held as (
    update balances set held_u = held_u + p_amount_u
     where account_id = p_account and posted_u - held_u - reserved_u - held_back_u >= p_amount_u and not allow_negative
    returning account_id
  )
  insert into transfers (idem, kind, debit, credit, amount_u, poll_id)
  select p_idem, 'hold', account_id, '00000000-0000-4000-8000-000000000002', p_amount_u, p_poll_id from held;
  return found;
end $$;
