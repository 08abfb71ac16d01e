import type { CopiedTable } from './copy-rows.ts';

// What moves with an account; $account stands for its id. Not: transfers (each cell has its own ledger), payments (stay
// in the cell that took them), webhook deliveries (the source ends those it has begun), nonces.

/** Found by the ids of the account's polls, in this order. Labels of metadata are created from the polls. */
export const TABLES_OF_POLLS: readonly CopiedTable[] = [
  { name: 'polls', where: null, byPoll: 'id' },
  { name: 'results', where: null, byPoll: 'poll_id' },
  { name: 'votes', where: null, byPoll: 'poll_id' },
  // Feedback by other accounts on its polls counts, but without their names: their accounts do not move.
  {
    name: 'feedback',
    where: null,
    byPoll: 'poll_id',
    instead: { account_id: 'case when t.account_id = $account then t.account_id end' },
  },
];

const OF_ACCOUNT = 't.account_id = $account';
const OF_BATCHES = 't.batch_id = any(array(select id from batches where account_id = $account))';

/** Found by the account, in the order of their foreign keys. */
export const TABLES_OF_ACCOUNT: readonly CopiedTable[] = [
  { name: 'identities', where: OF_ACCOUNT },
  { name: 'api_keys', where: OF_ACCOUNT },
  { name: 'logins', where: OF_ACCOUNT },
  { name: 'saved_panels', where: OF_ACCOUNT },
  { name: 'webhook_endpoints', where: `${OF_ACCOUNT} and t.removed_at is null` },
  { name: 'batches', where: OF_ACCOUNT },
  { name: 'batch_rows', where: OF_BATCHES },
  { name: 'batch_reports', where: OF_BATCHES },
  { name: 'idempotency', where: 't.principal = $account::text' },
  { name: 'caller_days', where: 't.caller = $account::text' },
  { name: 'usage_days', where: OF_ACCOUNT },
  // Their spent amounts are compared with the days, even if the move is interrupted in between.
  { name: 'key_limits', where: OF_ACCOUNT },
  { name: 'usage_labels', where: OF_ACCOUNT },
  // Sums of months are created anew.
  { name: 'usage_names', where: OF_ACCOUNT, instead: { summed: 'false' } },
];
