-- When the present period of a key's limit ends; null for a limit that is never reset.
create or replace function key_resets_at(p_reset text) returns timestamptz language sql stable as $$
  select case p_reset when 'daily' then key_period(p_reset) + interval '1 day'
                      when 'monthly' then key_period(p_reset) + interval '1 month' end at time zone 'utc'
$$;
