import type { Migration } from './migration.ts';

// When most batches have one row, statistics say so of all, and the end of a poll may be planned by an index that reads its whole
// batch. A hundred rows are assumed, from the next analyze on.
export const batchRowStatistics: Migration = {
  name: '0026-batch-row-statistics',
  sql: () => 'alter table batch_rows alter column batch_id set (n_distinct = -0.01);',
};
