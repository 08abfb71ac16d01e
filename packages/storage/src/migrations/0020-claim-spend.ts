import type { Migration } from './migration.ts';

// What was set aside for calls of further claims is taken off at the end. Null for a poll that was claimed once, or again by
// the release before, which counts such calls at the end only. Stands before 0020-poll-cost, which loads end_poll: that names
// the column, and polls end while steps are applied.
export const claimSpend: Migration = {
  name: '0020-claim-spend',
  sql: () => 'alter table polls add column spend_again_u bigint;',
};
