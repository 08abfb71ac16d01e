-- The last transfer on a closed page; later transfers are the open part of the ledger.
create or replace function closed_to() returns bigint language sql stable as $$
  select coalesce((select max(last_id) from ledger_pages), 0)
$$;
