-- Creates the event that a key's limit refused a poll, once per period of the limit.
create or replace function note_key_limit(p_key uuid) returns void
language plpgsql set search_path = public, pg_temp as $$
declare
  v_key key_limits;
begin
  update key_limits
     set spent_u = case when period < key_period(reset) then 0 else spent_u end,
         period = greatest(period, key_period(reset)),
         reached_in = greatest(period, key_period(reset))
   where key_id = p_key and reached_in is distinct from greatest(period, key_period(reset))
  returning * into v_key;
  if not found then
    return;
  end if;
  perform note_webhook_event(v_key.account_id, 'key.limit_reached', jsonb_build_object(
    'key_id', p_key,
    'label', (select label from api_keys where id = p_key),
    'limit_usd', trim_scale(v_key.limit_u / 1000000.0),
    'limit_reset', v_key.reset,
    'spent_usd', trim_scale(v_key.spent_u / 1000000.0),
    'held_usd', trim_scale(v_key.held_u / 1000000.0),
    'resets_at', to_char(key_resets_at(v_key.reset) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')));
end $$;
