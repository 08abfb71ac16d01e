import {
  integer,
  microUsd,
  onOff,
  optional,
  type Reader,
  SHARED_SETTINGS,
  share,
  withDefault,
} from '@eloquentpoll/ops/settings';

const reservedShare: Reader<number> = {
  ...share,
  form: 'a share from 0 to 0.9',
  read: (value) => {
    const read = share.read(value);
    return read !== undefined && read <= 0.9 ? read : undefined;
  },
};

/** Every variable that the worker reads; the keys of model providers are named by the roster file. */
export const WORKER_SETTINGS = {
  ...SHARED_SETTINGS,
  WORKER_CONCURRENCY: withDefault(integer(1, 1_000), 50, 'Polls that one worker runs at once.'),
  WORKER_FLEX_CONCURRENCY: withDefault(
    integer(0, 1_000),
    25,
    'Flex polls that one worker runs beside them while no other poll waits; 0 leaves them to other workers.',
  ),
  WORKER_RESERVED_SHARE: withDefault(
    reservedShare,
    0.2,
    'The share of both that is kept for accounts and networks with few running polls in this worker.',
  ),
  WORKER_DRAIN_MS: withDefault(integer(0, 120_000), 20_000, 'After SIGTERM: time for running polls to end.'),
  WEBHOOK_CONCURRENCY: withDefault(
    integer(4, 10_000),
    256,
    'Webhooks that one worker sends at once; a quarter of them for one account.',
  ),
  FREE_FAILURES_USD: withDefault(
    microUsd,
    '0.25',
    'What an account has free per UTC day of model calls that its questions make fail.',
  ),
  FREE_FAILURES_SHARE: withDefault(
    share,
    0.05,
    'The same as a share of what the account paid in 24 hours; the larger one counts.',
  ),
  CANARIES_PER_DAY: optional(
    integer(0, 1_440),
    'Questions of known answer that each model is asked per day; one that fails them leaves its panels until it passes again. Without it 24, and none for simulated models.',
  ),
  CANARY_DAILY_CAP_USD: withDefault(microUsd, '0.50', 'What these questions may cost per UTC day.'),
  AUDIT_DAILY_CAP_USD: withDefault(microUsd, '1', 'The most that audits may cost per UTC day; 0 makes none.'),
  READINGS: withDefault(
    onOff,
    'on',
    'Whether results have a second reading beside the plurality, once enough is on record about the models.',
  ),
  // At the most a third of the time after which the alarm LedgerUnchecked fires.
  LEDGER_CHECK_S: withDefault(integer(1, 1_200), 60, 'How often one of the workers checks the ledger.'),
} as const;
