-- An id up to which no transfer can appear any more; null when a writer did not end in time. Ids are taken before they
-- are committed, so the newest one may be visible before an older one. A writer holds its lock on the table from before
-- it takes an id until after its rows are visible: when all who held one have let it go, the ids taken before are final.
create or replace function final_transfer_id(p_wait_ms integer) returns bigint language plpgsql as $$
declare
  v_last bigint;
  v_writers text[];
  v_until constant timestamptz := clock_timestamp() + p_wait_ms * interval '1 millisecond';
begin
  select case when is_called then last_value else 0 end into v_last from transfers_id_seq;
  select array_agg(virtualtransaction) into v_writers from pg_locks
   where relation = 'transfers'::regclass and database = (select oid from pg_database where datname = current_database())
     and mode in ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock') and granted
     and pid is distinct from pg_backend_pid();
  while exists (select from pg_locks where virtualtransaction = any (v_writers) and relation = 'transfers'::regclass) loop
    if clock_timestamp() > v_until then
      return null;
    end if;
    perform pg_sleep(0.005);
  end loop;
  return v_last;
end $$;
