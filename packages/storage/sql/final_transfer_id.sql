-- An id up to which no more transfers can appear; null if a writer did not end in time. Ids are assigned before they
-- are committed, so the newest may be visible before an older one. A writer locks the table from before it gets an id
-- until its rows are visible: once all present lock holders have ended, the ids assigned before are final.
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
