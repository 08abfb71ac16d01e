-- If a check is due, records that it begins and returns true. The check counts as failed until it has ended. After
-- failures the pause doubles, up to a quarter of an hour; while pages wait to be closed the pause is short.
create or replace function begin_ledger_check(p_every_ms integer) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  update ledger_checks
     set attempted_at = now(), failures = failures + 1, failure = 'it did not end'
   where attempted_at is null
      or attempted_at <= now() - interval '1 millisecond' * case
           when failures > 0 then greatest(p_every_ms, least(p_every_ms * 2.0 ^ least(failures, 10), 900000))
           when behind then least(p_every_ms, 2 * took_ms)
           else greatest(p_every_ms, 10 * took_ms) end;
  return found;
end $$;
