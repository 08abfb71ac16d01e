import type { Migration } from './migration.ts';

// What the rows of a batch came to against their right answers. Counted in the order of their lines, and kept on the way:
// sums of the rows up to `line`, until all are counted; then the finished report.
export const batchReports: Migration = {
  name: '0016-batch-reports',
  sql: () => `
create table batch_reports (
  batch_id   text collate "C" primary key references batches on delete cascade,
  line       integer not null,
  counted    integer not null,
  sums       jsonb,
  report     json,
  counted_at timestamptz not null default now(),
  check ((sums is null) <> (report is null))
);
`,
};
