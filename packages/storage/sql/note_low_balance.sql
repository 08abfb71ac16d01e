-- Creates the event that a balance has just fallen below its owner's limit: p_lost_u less is posted than before.
create or replace function note_low_balance(p_account uuid, p_posted_u bigint, p_lost_u bigint, p_low_u bigint) returns void
language plpgsql set search_path = public, pg_temp as $$
begin
  if p_posted_u < p_low_u and p_posted_u + p_lost_u >= p_low_u then
    perform note_webhook_event(p_account, 'balance.low', jsonb_build_object(
      'balance_usd', trim_scale(p_posted_u / 1000000.0), 'low_balance_usd', trim_scale(p_low_u / 1000000.0)));
  end if;
end $$;
