// What rows cover, by part of the product.

export const VOTING = ['packages/voting/src', 'packages/contracts/src'];
export const RUNNING = [
  'apps/worker/src',
  'packages/polls/src',
  'packages/bus/src',
  'packages/storage/src',
  'packages/storage/sql',
  ...VOTING,
];
export const LEDGER = ['packages/storage/sql', 'packages/storage/src'];
export const ASKING = ['apps/gateway/src/polls', 'apps/gateway/src/http'];
export const SERVICE = [...RUNNING, 'apps/gateway/src', 'packages/models/src'];
export const PROMISES = [...SERVICE, 'packages/webhooks/src', 'packages/receipts/src'];
export const STREAMS = ['apps/gateway/src/http', 'apps/gateway/src/polls/run', 'packages/bus/src'];
export const KEYS = ['apps/gateway/src/accounts'];
export const EVIDENCE = ['packages/evidence/src', 'packages/voting/src'];
