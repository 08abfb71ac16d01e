-- Captures p_amount_u of a hold and releases the rest; 0 releases all. false: this hold was resolved before.
create or replace function ledger_resolve(p_hold_idem text, p_amount_u bigint) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  hold transfers;
  v_balance balances;
  v_today constant date := (now() at time zone 'utc')::date;
begin
  select * into hold from transfers where idem = p_hold_idem and kind = 'hold';
  if not found then
    raise exception 'no hold %', p_hold_idem using errcode = 'EP002';
  end if;
  if p_amount_u < 0 or p_amount_u > hold.amount_u then
    raise exception 'a capture of % does not fit into hold % of %', p_amount_u, p_hold_idem, hold.amount_u
      using errcode = 'EP003';
  end if;
  insert into transfers (idem, kind, debit, credit, amount_u, pending_id, poll_id)
  values ('resolve:' || hold.id, case when p_amount_u = 0 then 'void' else 'post' end, hold.debit, hold.credit,
          case when p_amount_u = 0 then hold.amount_u else p_amount_u end, hold.id, hold.poll_id)
  on conflict do nothing;
  if not found then
    return false;
  end if;
  update balances
     set posted_u = posted_u - p_amount_u,
         used_u = used_u + p_amount_u,
         used_yesterday_u = case used_on when v_today then used_yesterday_u when v_today - 1 then used_today_u else 0 end,
         used_today_u = case used_on when v_today then used_today_u else 0 end + p_amount_u,
         used_on = v_today,
         held_u = held_u - hold.amount_u,
         allow_negative = allow_negative and posted_u - p_amount_u - (held_u - hold.amount_u) < 0
   where account_id = hold.debit
  returning * into v_balance;
  if not found then
    raise exception 'account % has no balance', hold.debit using errcode = 'EP002';
  end if;
  if v_balance.low_balance_u is not null then
    perform note_low_balance(hold.debit, v_balance.posted_u, p_amount_u, v_balance.low_balance_u);
  end if;
  return true;
end $$;
