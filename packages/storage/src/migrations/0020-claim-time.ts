import type { Migration } from './migration.ts';

// When what a poll's calls may cost was set aside, where that was at a claim and not when it was accepted. Null for standard polls, and
// for flex polls that a gateway of the release before accepted. Stands before 0020-poll-cost, as 0020-claim-spend does: end_poll names it.
export const claimTime: Migration = {
  name: '0020-claim-time',
  sql: () => 'alter table polls add column spend_at timestamptz;',
};
