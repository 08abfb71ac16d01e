import type { Migration } from './migration.ts';

// Which event said that a batch ended: it goes with the batch. Found by its id, because an index of events by batch would be
// built under a lock that the ends of polls wait for.
export const batchEvents: Migration = {
  name: '0028-batch-events',
  sql: () => 'alter table batches add column event_id text collate "C";',
};
