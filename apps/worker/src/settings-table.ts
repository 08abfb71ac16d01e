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
  WORKER_CONCURRENCY: withDefault(integer(1, 1_000), 50, 'How many standard polls one worker runs at once.'),
  WORKER_FLEX_CONCURRENCY: withDefault(
    integer(0, 1_000),
    25,
    'How many flex polls one worker runs in addition, while no standard poll waits; 0 leaves flex polls to other workers.',
  ),
  WORKER_RESERVED_SHARE: withDefault(
    reservedShare,
    0.2,
    'The share of both kinds of slots that is reserved for accounts and networks with few running polls in this worker.',
  ),
  WORKER_DRAIN_MS: withDefault(
    integer(0, 120_000),
    20_000,
    'Milliseconds after SIGTERM in which running polls can end.',
  ),
  WEBHOOK_CONCURRENCY: withDefault(
    integer(4, 10_000),
    256,
    'How many webhooks one worker sends at once, at most a quarter of them for one account.',
  ),
  FREE_FAILURES_USD: withDefault(
    microUsd,
    '0.25',
    'An account is not charged for model calls that fail because of its questions, up to this cost per UTC day.',
  ),
  FREE_FAILURES_SHARE: withDefault(
    share,
    0.05,
    'The same limit as a share of what the account paid in the last 24 hours; the larger of the two applies.',
  ),
  CANARIES_PER_DAY: optional(
    integer(0, 1_440),
    'How many test questions with known answers each model is asked per day. A model that fails is taken out of its panels until it passes again. Default: 24, none for simulated models.',
  ),
  CANARY_DAILY_CAP_USD: withDefault(microUsd, '0.50', 'Maximum cost of the test questions per UTC day.'),
  AUDIT_DAILY_CAP_USD: withDefault(microUsd, '1', 'Maximum cost of audits per UTC day; 0 disables audits.'),
  READINGS: withDefault(
    onOff,
    'on',
    'Whether results have a reading (a second opinion beside the plurality) once enough is known about the models.',
  ),
  // At most a third of the time after which the alarm LedgerUnchecked fires.
  LEDGER_CHECK_S: withDefault(
    integer(1, 1_200),
    60,
    'Seconds between checks of the ledger; one worker does each check.',
  ),
} as const;
