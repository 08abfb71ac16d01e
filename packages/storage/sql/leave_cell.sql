-- The decisive step of a move: the account leaves this cell with all of its money, and its names lead to the other
-- cell. false: it had left before. Raises EP008 if it still has running polls or money set aside.
create or replace function leave_cell(p_move uuid, p_keep interval) returns boolean
language plpgsql set search_path = public, pg_temp as $$
declare
  v_move account_moves;
  v_balance balances;
  v_now constant timestamptz := clock_timestamp();
begin
  -- Not a setting of the function: only a superuser can define one whose name belongs to no extension.
  perform set_config('eloquentpoll.moving', 'on', true);
  select * into strict v_move from account_moves where id = p_move and direction = 'out' for update;
  if v_move.state in ('left', 'arrived') then
    return false;
  end if;
  -- Before the account and its balance, in the order used when a payment is credited, reversed or released.
  perform from checkouts where account_id = v_move.account_id order by id for update;
  perform from accounts
    where id = v_move.account_id and moving_at is not null and moved_to is null and deleted_at is null for update;
  if not found or v_move.state <> 'frozen' then
    raise exception 'move % is %, not frozen, or its account is closed', p_move, v_move.state using errcode = 'EP008';
  end if;
  select * into strict v_balance from balances where account_id = v_move.account_id for update;
  if v_balance.held_u <> 0 or v_balance.reserved_u <> 0
     or exists (select from polls where account_id = v_move.account_id and status = 'running') then
    raise exception 'polls or batches of account % still run', v_move.account_id using errcode = 'EP008';
  end if;

  update account_moves
     set state = 'left', left_at = v_now, amount_u = v_balance.posted_u,
         facts = jsonb_build_object(
           'used_u', v_balance.used_u + v_balance.used_elsewhere_u, 'used_on', v_balance.used_on,
           'used_today_u', v_balance.used_today_u, 'used_yesterday_u', v_balance.used_yesterday_u,
           'low_balance_u', v_balance.low_balance_u,
           'account', (select jsonb_build_object('email', email, 'frozen_at', frozen_at, 'created_at', created_at)
                         from accounts where id = v_move.account_id),
           'checkouts', moving_checkouts(v_move.account_id))
   where id = p_move;

  -- The owner is not warned of a low balance because money moves along.
  update balances set low_balance_u = null, held_back_u = 0 where account_id = v_move.account_id;
  update checkouts set held_back_u = 0 where account_id = v_move.account_id and held_back_u > 0;
  if v_balance.posted_u <> 0 then
    perform ledger_move(case when v_balance.posted_u > 0 then 'reversal' else 'credit' end, v_move.account_id,
      '00000000-0000-4000-8000-000000000007', abs(v_balance.posted_u), 'move:' || p_move || ':out');
  end if;

  insert into moved_names (name, account_id)
  select 'key:' || encode(hash, 'hex'), account_id from api_keys where account_id = v_move.account_id
  union all
  select 'login:' || id, account_id from logins where account_id = v_move.account_id
  union all
  select case kind when 'wallet' then 'wallet:' || encode(address, 'hex')
                   else 'oidc:' || encode(sha256(convert_to(issuer || e'\n' || subject, 'UTF8')), 'hex') end, account_id
    from identities where account_id = v_move.account_id
  on conflict (name) do update set account_id = excluded.account_id;
  delete from logins where account_id = v_move.account_id;
  delete from identities where account_id = v_move.account_id;
  delete from api_keys where account_id = v_move.account_id;
  delete from saved_panels where account_id = v_move.account_id;
  -- Polls that are being accepted lock their key before the account. Their keys are skipped here, and expire.
  delete from idempotency where ctid = any(array(
    select ctid from idempotency where principal = v_move.account_id::text for update skip locked));
  delete from caller_days where caller = v_move.account_id::text;

  update accounts
     set deleted_at = v_now, moving_at = null, moved_to = v_move.to_cell, keep_until = v_now + p_keep, email = null
   where id = v_move.account_id;
  return true;
end $$;
