-- The data about card payments that the target cell needs to hold back what is not settled.
create or replace function moving_checkouts(p_account uuid) returns jsonb language sql stable as $$
select coalesce(jsonb_agg(jsonb_build_object('id', id, 'amount_cents', amount_cents, 'reversed_cents', reversed_cents,
                  'settles_at', settles_at, 'held_back_u', held_back_u, 'credited_at', credited_at)), '[]')
  from checkouts where account_id = p_account and state in ('credited', 'moved')
$$;
