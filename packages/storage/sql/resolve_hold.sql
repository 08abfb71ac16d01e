-- Captures p_amount_u of a hold that was read before and releases the rest; 0 releases all. false: it was resolved
-- before. Holds never change, so resolving locks no hold: a unique index admits only the first resolution.
create or replace function resolve_hold(p_hold bigint, p_debit uuid, p_hold_u bigint, p_poll_id text, p_amount_u bigint)
returns boolean language plpgsql as $$
declare
  v_today constant date := (now() at time zone 'utc')::date;
  v_posted_u bigint;
  v_low_u bigint;
begin
  if p_amount_u < 0 or p_amount_u > p_hold_u then
    raise exception 'a capture of % does not fit into hold % of %', p_amount_u, p_hold, p_hold_u using errcode = 'EP003';
  end if;
  with resolved as (
    insert into transfers (idem, kind, debit, credit, amount_u, pending_id, poll_id)
    values ('resolve:' || p_hold::text, case when p_amount_u = 0 then 'void' else 'post' end, p_debit,
            '00000000-0000-4000-8000-000000000002', case when p_amount_u = 0 then p_hold_u else p_amount_u end, p_hold, p_poll_id)
    on conflict do nothing
    returning id
  )
  update balances
     set posted_u = posted_u - p_amount_u,
         used_u = used_u + p_amount_u,
         -- used_on is later than today if this began before midnight and waited for a transaction that began after it.
         used_yesterday_u = case when used_on >= v_today then used_yesterday_u
                                 when used_on = v_today - 1 then used_today_u else 0 end,
         used_today_u = case when used_on >= v_today then used_today_u else 0 end + p_amount_u,
         used_on = greatest(used_on, v_today),
         held_u = held_u - p_hold_u,
         allow_negative = allow_negative and posted_u - p_amount_u - (held_u - p_hold_u) < 0
   where account_id = p_debit and exists (select from resolved)
  returning posted_u, low_balance_u into v_posted_u, v_low_u;
  if not found then
    if not exists (select from balances where account_id = p_debit) then
      raise exception 'account % has no balance', p_debit using errcode = 'EP002';
    end if;
    return false;
  end if;
  if v_low_u is not null then
    perform note_low_balance(p_debit, v_posted_u, p_amount_u, v_low_u);
  end if;
  return true;
end $$;
