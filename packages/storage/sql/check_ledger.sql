-- The auditor: `select * from check_ledger()` lists violations of the ledger's rules; no row means drift 0. It does not
-- rely on what enforces these rules: neither constraints nor functions nor running balances. It sees one snapshot, may
-- run at any time during live traffic, and reads the open part of the ledger, the totals of the closed part, closed
-- pages that were not proved, and the newest seal. The operator image's `check-ledger.js --full` reads everything.
create or replace function check_ledger() returns table (rule text, subject text, found text) language sql stable as $$
select * from check_totals()
union all
select * from check_transfers(closed_to(), 9223372036854775807, true)
union all
select * from check_running()
union all
select * from check_moves()
union all
select * from check_key_limits()
union all
select * from check_keys(now() + interval '23 hours 50 minutes', 'infinity')
union all
select v.* from ledger_pages p cross join lateral check_page(p.last_id) v where not p.proved
union all
select v.* from (select max(day) as day from ledger_seals) s cross join lateral check_seals(s.day, 'infinity') v
$$;
