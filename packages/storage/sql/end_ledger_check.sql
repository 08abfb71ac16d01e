-- Ends a check. p_failure: why it failed. Otherwise it checks the books, unless more than p_max_open transfers wait to
-- be closed, and records the result itself, so that a caller cannot report another one. Polls that end late are returned
-- and not counted: no money is wrong, and after an outage they would raise the alarm that some is.
create or replace function end_ledger_check(p_failure text, p_max_open bigint)
returns table (rule text, subject text, found text)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  v_behind constant boolean :=
    (select case when is_called then last_value else 0 end from transfers_id_seq) - closed_to() > p_max_open;
  v_violations integer;
  v_found jsonb;
begin
  if p_failure is not null then
    update ledger_checks set failure = left(p_failure, 200);
    return;
  end if;
  if not v_behind then
    v_found := (select coalesce(jsonb_agg(c), '[]') from check_ledger() c);
    v_violations := (select count(*) from jsonb_to_recordset(v_found) c (rule text) where c.rule <> 'poll_overdue');
    return query select * from jsonb_to_recordset(v_found) c (rule text, subject text, found text);
  end if;
  update ledger_checks
     set failures = 0, failure = null, behind = v_behind,
         took_ms = extract(epoch from clock_timestamp() - attempted_at) * 1000,
         checked_at = case when v_behind then checked_at else clock_timestamp() end,
         violations = coalesce(v_violations, violations);
end $$;
