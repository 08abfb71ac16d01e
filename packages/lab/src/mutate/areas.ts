// What is mutated, and the tests that must detect it.

export interface Area {
  readonly name: string;
  readonly files: readonly string[];
  /** Functions of the database, in their newest definitions. */
  readonly functions?: readonly string[];
  readonly tests: readonly string[];
  /** The share of mutants that may survive. */
  readonly maxSurviving: number;
}

const FEW = 0.1;

const VOTING = 'packages/voting';
const STORAGE = 'packages/storage';
const GATEWAY = 'apps/gateway';
const MODELS = 'packages/models';

const voting = (name: string) => `${VOTING}/src/${name}.ts`;
const storage = (name: string) => `${STORAGE}/src/${name}.ts`;
const storageTest = (name: string) => `${STORAGE}/test/${name}.test.ts`;
const bus = (name: string) => `packages/bus/src/${name}.ts`;
const worker = (name: string) => `apps/worker/src/${name}.ts`;
const gateway = (name: string) => `${GATEWAY}/src/${name}.ts`;
const gatewayTest = (name: string) => `${GATEWAY}/test/${name}.test.ts`;

export const AREAS: readonly Area[] = [
  {
    name: 'voting',
    maxSurviving: FEW,
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
      'track-record',
      'machine',
    ].map((name) => `${VOTING}/test/${name}.test.ts`),
  },
  {
    name: 'ledger',
    maxSurviving: FEW,
    files: ['ledger', 'accept-poll', 'finish-poll', 'claims', 'leases', 'transaction'].map(storage),
    tests: [
      'transaction',
      'ledger',
      'accept-poll',
      'accept-together',
      'finish-poll',
      'failed-calls',
      'flex-spend',
      'claims',
      'gather',
      'leases',
      'suspects',
      'sweep',
      'cancel-poll',
      'hiccup',
      'errors',
    ].map(storageTest),
  },
  {
    name: 'ledger-sql',
    maxSurviving: FEW,
    files: [],
    functions: [
      'ledger_hold',
      'ledger_resolve',
      'resolve_hold',
      'ledger_move',
      'top_up_pool',
      'accept_poll',
      'accept_polls',
      'end_poll',
      'finish_polls',
    ],
    tests: [
      'ledger',
      'hold-back',
      'finish-poll',
      'end-poll',
      'failed-calls',
      'accept-poll',
      'accept-together',
      'tenant-limits',
      'key-limits',
      'provider-spend',
      'flex-spend',
      'usage',
      'batches',
      'audits',
      'webhooks',
      'lock-order',
      'poll-life',
    ].map(storageTest),
  },
  {
    name: 'audit-sql',
    maxSurviving: 0.15,
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
    tests: ['check-ledger', 'audited-ranges', 'close-steps', 'close-books', 'ledger', 'finish-poll'].map(storageTest),
  },
  {
    name: 'idempotency',
    maxSurviving: FEW,
    files: [storage('idempotency'), gateway('http/fingerprint'), gateway('http/hooks/idempotency-key')],
    tests: [
      gatewayTest('http/idempotency-parts'),
      storageTest('idempotency'),
      storageTest('cancel-poll'),
      gatewayTest('http/idempotency'),
    ],
  },
  {
    name: 'keys',
    maxSurviving: FEW,
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
      storageTest('api-keys'),
      storageTest('key-limits'),
      gatewayTest('accounts/key-attacks'),
      gatewayTest('accounts/keys'),
      gatewayTest('accounts/restricted-keys'),
      gatewayTest('pages/key-forms'),
    ],
  },
  {
    name: 'money',
    maxSurviving: FEW,
    files: [
      gateway('polls/order/decimal-usd'),
      gateway('payments/usdc/amount'),
      `${MODELS}/src/price.ts`,
      `${MODELS}/src/billing.ts`,
    ],
    tests: [gatewayTest('payments/money'), `${MODELS}/test/prices.test.ts`],
  },
  {
    name: 'tenancy',
    maxSurviving: FEW,
    files: [
      ...['fair-place', 'tenant-slots', 'reserved-slots'].map(bus),
      worker('yield-to-standard'),
      gateway('polls/run/queue-outlook'),
    ],
    tests: [
      'packages/bus/test/reserved-slots.test.ts',
      'packages/bus/test/fair-queue.test.ts',
      'apps/worker/test/yield-to-standard.test.ts',
      gatewayTest('polls/queue-outlook'),
    ],
  },
  {
    name: 'webhooks',
    maxSurviving: FEW,
    files: [
      ...['message-data', 'receiver-rules', 'resolve-receiver', 'retry-schedule', 'sealed-secrets'],
      ...['send-message', 'signature'],
    ]
      .map((name) => `packages/webhooks/src/${name}.ts`)
      .concat(['deliver-webhooks', 'open-delivery', 'send-delivery'].map((name) => worker(`webhooks/${name}`))),
    functions: [
      ...['claim_webhook_deliveries', 'end_webhook_attempt', 'spread_webhook_events', 'note_webhook_event'],
      ...['hears_webhooks', 'next_webhook_due', 'resend_webhook_delivery', 'disable_webhook_endpoint'],
    ],
    tests: [
      'packages/webhooks/test/rules.test.ts',
      'packages/webhooks/test/message-form.test.ts',
      'packages/webhooks/test/send-message.test.ts',
      'apps/worker/test/send-webhooks.test.ts',
      'apps/worker/test/webhooks.test.ts',
      storageTest('webhooks'),
      storageTest('webhook-boundaries'),
    ],
  },
];
