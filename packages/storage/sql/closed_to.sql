-- The last transfer on a closed page; what comes after it is the open part of the ledger.
create or replace function closed_to() returns bigint language sql stable as $$
  select coalesce((select max(last_id) from ledger_pages), 0)
$$;
