-- Takes one step of dropping the oldest months that are over, and returns what it did; null if there is nothing to do.
-- A month is detached under locks for which it waits a tenth of a second; a later transaction deletes its files and
-- locks no table in use. A restored month is dropped again when it is over, but not while an account is moving here:
-- its polls may be from that month. Raises 55P03 if callers' statements did not release their locks: try again.
create or replace function drop_month() returns text
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '100ms' as $$
declare
  v_tables text[];
  v_month months;
begin
  -- Not at the same time as restore_month.
  lock table months in share row exclusive mode;
  select array_agg(format('%I', t.name || '_' || m.name)) into v_tables
    from months m cross join monthly_tables(m) t
   where case t.goes_with when 'polls' then m.polls_dropped_at else m.webhooks_dropped_at end is not null
     and exists (select from pg_class where oid = to_regclass(t.name || '_' || m.name) and not relispartition);
  if v_tables is not null then
    execute 'drop table ' || array_to_string(v_tables, ', ');
    return 'dropped ' || array_to_string(v_tables, ', ');
  end if;

  select * into v_month from months m where has_polls(m) order by ends_at limit 1;
  if polls_are_over(v_month) and (v_month.polls_dropped_at is null or not exists (
       select from accounts where moved_to is not null and keep_until = 'infinity')) then
    update months set polls_dropped_at = now() where name = v_month.name;
    return detach_month(v_month, 'polls');
  end if;

  select * into v_month from months where webhooks_dropped_at is null order by ends_at limit 1;
  if webhooks_are_over(v_month) then
    update months set webhooks_dropped_at = now() where name = v_month.name;
    return detach_month(v_month, 'webhooks');
  end if;
  return null;
end $$;
