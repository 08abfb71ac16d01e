-- Releases p_released_u of what is held against a key's limit, and counts p_captured_u as spent. A transaction that
-- began before the present period counts in the earlier one, like its capture in the ledger.
create or replace function settle_key_limit(p_key uuid, p_released_u bigint, p_captured_u bigint) returns void
language plpgsql as $$
begin
  update key_limits
     set held_u = held_u - p_released_u,
         spent_u = case when period < key_period(reset) then 0 else spent_u end
                   + case when period <= key_period(reset) then p_captured_u else 0 end,
         period = greatest(period, key_period(reset))
   where key_id = p_key;
end $$;
