-- A pool's first use on a UTC day sets it to the cap (it does not add the cap), so that what it holds and spends
-- between two midnights never exceeds the cap. topped_up_on only moves forward, under the row's lock. A changed cap
-- takes effect at the next midnight. p_name is the prefix of its transfers' names.
create or replace function top_up_pool(p_pool uuid, p_name text, p_cap_u bigint) returns void language plpgsql as $$
declare
  v_operator constant uuid := '00000000-0000-4000-8000-000000000003';
  v_today constant date := (now() at time zone 'utc')::date;
  v_posted_u bigint;
  v_surplus_u bigint;
begin
  perform 1 from balances where account_id = p_pool and topped_up_on >= v_today;
  if found then
    return;
  end if;
  select posted_u, least(posted_u - p_cap_u, posted_u - held_u) into v_posted_u, v_surplus_u
    from balances where account_id = p_pool and coalesce(topped_up_on < v_today, true) for update;
  if not found then
    return;
  end if;
  update balances set topped_up_on = v_today where account_id = p_pool;
  if v_posted_u < p_cap_u then
    perform ledger_move('top_up', p_pool, v_operator, p_cap_u - v_posted_u, p_name || ':' || v_today);
  elsif v_surplus_u > 0 then
    perform ledger_move('reversal', p_pool, v_operator, v_surplus_u, p_name || ':' || v_today);
  end if;
end $$;
