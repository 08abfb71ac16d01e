-- The first UTC day of the present period of a key's limit; a limit that is never reset counts everything.
create or replace function key_period(p_reset text) returns date language sql stable as $$
  select case p_reset when 'daily' then (now() at time zone 'utc')::date
                      when 'monthly' then date_trunc('month', now() at time zone 'utc')::date
                      else '-infinity' end
$$;
