-- How much of p_fault_u, the cost of calls that the account's questions made fail, the account must pay: what exceeds
-- the free part of the UTC day, the larger of p_allowance_u and p_share_ppm of what was captured in the last 24 hours
-- (of which yesterday counts in proportion). The lock on the balance makes the sum of the free part exact.
create or replace function charge_failures(p_account uuid, p_fault_u bigint, p_most_u bigint, p_allowance_u bigint,
  p_share_ppm bigint) returns bigint language plpgsql as $$
declare
  v_today constant date := (now() at time zone 'utc')::date;
  v_left_ppm constant bigint :=
    1000000 - (extract(epoch from now() - date_trunc('day', now(), 'UTC')) * 1000000 / 86400)::bigint;
  v_captured_u bigint;
  v_free_u bigint;
begin
  select case when used_on >= v_today then used_today_u + used_yesterday_u * v_left_ppm / 1000000
              when used_on = v_today - 1 then used_today_u * v_left_ppm / 1000000 else 0 end
    into v_captured_u from balances where account_id = p_account for update;
  if not found then
    raise exception 'account % has no balance', p_account using errcode = 'EP002';
  end if;
  select coalesce(max(free_u), 0) into v_free_u
    from caller_days where caller = p_account::text and day = v_today;
  v_free_u := greatest(p_allowance_u, v_captured_u * p_share_ppm / 1000000) - v_free_u;
  return least(p_fault_u - least(p_fault_u, greatest(v_free_u, 0)), p_most_u);
end $$;
