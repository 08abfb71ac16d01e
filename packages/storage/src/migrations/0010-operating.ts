import type { Migration } from './migration.ts';

// What operators look at. A dead letter is closed by somebody who has seen it; a retry is a new poll, because a poll that
// has ended stays ended. The last check of the ledger is one row that all processes show.
export const operating: Migration = {
  name: '0010-operating',
  sql: `
alter table dead_letters
  add column seen_at timestamptz,
  add column retried_as text collate "C" references polls;
create index dead_letters_unseen on dead_letters (created_at) where seen_at is null;

create table ledger_checks (
  only_row   boolean primary key default true check (only_row),
  checked_at timestamptz not null,
  took_ms    integer not null,
  violations integer not null
);
`,
};
