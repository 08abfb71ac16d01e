-- Counts money that is set aside for polls of a key against the key's limit: spent + held stays within it. False: it
-- does not fit, and nothing is held. True for a key without a limit.
create or replace function take_key_limit(p_account uuid, p_key uuid, p_amount_u bigint) returns boolean
language plpgsql as $$
begin
  if p_key is null or not exists (select from key_limits where key_id = p_key) then
    return true;
  end if;
  -- In the order used when polls end.
  perform 1 from balances where account_id = p_account for update;
  update key_limits
     set spent_u = case when period < key_period(reset) then 0 else spent_u end,
         period = greatest(period, key_period(reset)),
         held_u = held_u + p_amount_u
   where key_id = p_key
     and (limit_u is null
          or case when period < key_period(reset) then 0 else spent_u end + held_u + p_amount_u <= limit_u);
  if found then
    return true;
  end if;
  perform note_key_limit(p_key);
  return false;
end $$;
