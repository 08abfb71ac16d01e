-- Moves p_amount_u from a funding account to p_account, or back when p_kind is 'reversal'.
-- false: a transfer with this idem and the same content exists. With other content, it raises.
create or replace function ledger_move(p_kind text, p_account uuid, p_funding uuid, p_amount_u bigint, p_idem text)
returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  back boolean := p_kind = 'reversal';
  v_balance balances;
begin
  if p_kind not in ('credit', 'top_up', 'reversal') then
    raise exception 'no such movement: %', p_kind using errcode = 'EP002';
  end if;
  insert into transfers (idem, kind, debit, credit, amount_u)
  values (p_idem, p_kind, case when back then p_account else p_funding end,
          case when back then p_funding else p_account end, p_amount_u)
  on conflict (idem) do nothing;
  if not found then
    perform 1 from transfers
      where idem = p_idem and kind = p_kind and amount_u = p_amount_u
        and p_account = case when back then debit else credit end
        and p_funding = case when back then credit else debit end;
    if not found then
      raise exception 'transfer % exists with other content', p_idem using errcode = 'EP004';
    end if;
    return false;
  end if;
  update balances
     set posted_u = posted_u + case when back then -p_amount_u else p_amount_u end,
         allow_negative = case when back then posted_u - p_amount_u - held_u < 0
                               else allow_negative and posted_u + p_amount_u - held_u < 0 end
   where account_id = p_account
  returning * into v_balance;
  if not found then
    raise exception 'account % has no balance', p_account using errcode = 'EP002';
  end if;
  if back then
    perform note_low_balance(p_account, v_balance.posted_u, p_amount_u, v_balance.low_balance_u);
  end if;
  return true;
end $$;
