-- The target's half of leave_cell, given the source's row of the move: the account lives here from now on. A move of
-- kind `rest` brings only money and the held-back part of it. false: it had arrived before.
create or replace function arrive_in_cell(p_move jsonb) returns boolean
language plpgsql set search_path = public, pg_temp as $$
declare
  v_move constant account_moves := jsonb_populate_record(null::account_moves, p_move);
  v_id constant uuid := v_move.account_id;
  v_facts constant jsonb := v_move.facts;
begin
  -- Not a setting of the function: only a superuser can define one whose name belongs to no extension.
  perform set_config('eloquentpoll.moving', 'on', true);
  -- Payments before the account, in the order used when a payment is credited.
  perform from checkouts where account_id = v_id order by id for update;
  perform from accounts where id = v_id for update;
  insert into account_moves (id, account_id, direction, kind, from_cell, to_cell, state, amount_u, facts, left_at, arrived_at)
  values (v_move.id, v_id, 'in', v_move.kind, v_move.from_cell, v_move.to_cell, 'arrived', v_move.amount_u, v_facts - 'account',
          v_move.left_at, clock_timestamp())
  on conflict (id) do nothing;
  if not found then
    return false;
  end if;
  -- Payments stay in the cell that took them; their held-back parts, and reversals since, are copied here. Before the
  -- balance, in the order used when a payment is credited or settled.
  insert into checkouts (id, account_id, amount_cents, state, reversed_cents, settles_at, held_back_u, credited_at)
  select (c ->> 'id')::uuid, v_id, (c ->> 'amount_cents')::integer, 'moved', (c ->> 'reversed_cents')::integer,
         (c ->> 'settles_at')::timestamptz, (c ->> 'held_back_u')::bigint, (c ->> 'credited_at')::timestamptz
    from jsonb_array_elements(v_facts -> 'checkouts') c order by 1
  on conflict (id) do update
    set settles_at = excluded.settles_at,
        reversed_cents = case checkouts.state when 'moved' then excluded.reversed_cents else checkouts.reversed_cents end,
        held_back_u = least(checkouts.held_back_u + excluded.held_back_u, 10000::bigint * (checkouts.amount_cents
          - case checkouts.state when 'moved' then excluded.reversed_cents else checkouts.reversed_cents end));
  if v_move.amount_u <> 0 then
    perform ledger_move(case when v_move.amount_u > 0 then 'credit' else 'reversal' end, v_id,
      '00000000-0000-4000-8000-000000000007', abs(v_move.amount_u), 'move:' || v_move.id || ':in');
  end if;
  update balances set held_back_u = (select coalesce(sum(held_back_u), 0) from checkouts where account_id = v_id)
   where account_id = v_id;
  if v_move.kind <> 'account' then
    if v_move.amount_u > 0 and exists (select from accounts where id = v_id and deleted_at is not null and moved_to is null) then
      -- Its owner cannot reach the money. The source named no misfit: for it, the account has only moved.
      insert into misfits (source, reference, reason, amount_u, details)
      values ('card', 'move:' || v_move.id, 'closed_account', v_move.amount_u,
              jsonb_build_object('account_id', v_id, 'from_cell', v_move.from_cell, 'move_id', v_move.id));
    end if;
    return true;
  end if;

  -- Sums of months are rebuilt from the copied days. If the account lived here before, some days are summed already.
  perform from usage_names where account_id = v_id order by day, name for update;
  delete from usage_label_months where account_id = v_id;
  update usage_names set summed = false where account_id = v_id and summed;
  perform count_elsewhere(v_id);

  update balances
     set used_elsewhere_u = (v_facts ->> 'used_u')::bigint - used_u, used_on = (v_facts ->> 'used_on')::date,
         used_today_u = (v_facts ->> 'used_today_u')::bigint, used_yesterday_u = (v_facts ->> 'used_yesterday_u')::bigint,
         low_balance_u = (v_facts ->> 'low_balance_u')::bigint
   where account_id = v_id;
  update accounts
     set email = v_facts #>> '{account,email}', frozen_at = (v_facts #>> '{account,frozen_at}')::timestamptz,
         created_at = (v_facts #>> '{account,created_at}')::timestamptz,
         deleted_at = null, emptied_at = null, moving_at = null, moved_to = null, keep_until = null
   where id = v_id;
  return true;
end $$;
