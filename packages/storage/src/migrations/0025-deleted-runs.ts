import type { Migration } from './migration.ts';

// Polls that were deleted while Redis may have had their records: workers delete those once more. See empty_polls.
export const deletedRuns: Migration = {
  name: '0025-deleted-runs',
  sql: () => `
create table deleted_runs (
  poll_id    text primary key,
  deleted_at timestamptz not null default now()
);
create index deleted_runs_due on deleted_runs (deleted_at);
`,
};
