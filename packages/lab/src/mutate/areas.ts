// What is mutated, and the tests that must notice.

export interface Area {
  readonly name: string;
  readonly files: readonly string[];
  /** Functions of the database; their newest definitions are taken from it. */
  readonly functions?: readonly string[];
  readonly tests: readonly string[];
}

const VOTING = 'packages/voting';
const STORAGE = 'packages/storage';
const GATEWAY = 'apps/gateway';
const MODELS = 'packages/models';

const voting = (name: string) => `${VOTING}/src/${name}.ts`;
const storage = (name: string) => `${STORAGE}/src/${name}.ts`;
const storageTest = (name: string) => `${STORAGE}/test/${name}.test.ts`;
const gateway = (name: string) => `${GATEWAY}/src/${name}.ts`;
const gatewayTest = (name: string) => `${GATEWAY}/test/${name}.test.ts`;

export const AREAS: readonly Area[] = [
  {
    name: 'voting',
    files: [
      'budget',
      'conclude',
      'confidence',
      'decide',
      'estimate',
      'fan-out',
      'forecast',
      'mathematical-lock',
      'need',
      'poll',
      'reasoning',
      'panel-order',
      'seeded-random',
      'standing',
      'status',
      'stop-rules',
      'tally',
      'turnout',
      'urn',
    ].map(voting),
    // The first counts what the urn remembers, and must find it empty.
    tests: [
      'urn',
      'tally',
      'poll',
      'mathematical-lock',
      'confidence',
      'need',
      'stop-rules',
      'conclude',
      'fan-out',
      'reasoning',
      'panel-order',
      'estimate',
      'machine',
    ].map((name) => `${VOTING}/test/${name}.test.ts`),
  },
  {
    name: 'ledger',
    files: ['ledger', 'accept-poll', 'finish-poll', 'leases', 'transaction'].map(storage),
    tests: ['ledger', 'accept-poll', 'finish-poll', 'leases', 'suspects', 'sweep', 'errors'].map(storageTest),
  },
  {
    name: 'ledger-sql',
    files: [],
    functions: ['ledger_hold', 'ledger_resolve', 'ledger_move', 'top_up_pool', 'accept_poll', 'finish_poll'],
    tests: ['ledger', 'finish-poll', 'accept-poll', 'poll-life'].map(storageTest),
  },
  {
    name: 'audit-sql',
    files: [],
    functions: [
      'check_totals',
      'check_transfers',
      'check_running',
      'check_page',
      'check_seals',
      'check_polls',
      'close_books',
      'final_transfer_id',
      'sum_transfers',
    ],
    tests: ['check-ledger', 'close-books', 'ledger', 'finish-poll'].map(storageTest),
  },
  {
    name: 'idempotency',
    files: [storage('idempotency'), gateway('http/fingerprint'), gateway('http/hooks/idempotency-key')],
    tests: [gatewayTest('http/idempotency-parts'), storageTest('idempotency'), gatewayTest('http/idempotency')],
  },
  {
    name: 'keys',
    files: [
      gateway('accounts/keys/api-key'),
      gateway('accounts/keys/key-cache'),
      gateway('accounts/keys/issue-key'),
      gateway('accounts/keys/revoke-key'),
      storage('api-keys'),
    ],
    tests: [
      gatewayTest('accounts/api-key'),
      gatewayTest('accounts/key-cache'),
      storageTest('accounts'),
      gatewayTest('accounts/key-attacks'),
      gatewayTest('accounts/keys'),
    ],
  },
  {
    name: 'money',
    files: [
      gateway('polls/order/decimal-usd'),
      gateway('payments/usdc/amount'),
      `${MODELS}/src/price.ts`,
      `${MODELS}/src/billing.ts`,
    ],
    tests: [gatewayTest('payments/money'), `${MODELS}/test/prices.test.ts`],
  },
];
