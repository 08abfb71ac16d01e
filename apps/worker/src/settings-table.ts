import { integer, microUsd, SHARED_SETTINGS, share, withDefault } from '@eloquentpoll/ops/settings';

/** Every variable that the worker reads; the keys of model providers are named by the roster file. */
export const WORKER_SETTINGS = {
  ...SHARED_SETTINGS,
  WORKER_CONCURRENCY: withDefault(integer(1, 1_000), 50, 'Polls that one worker runs at once.'),
  WORKER_DRAIN_MS: withDefault(integer(0, 120_000), 20_000, 'After SIGTERM: time for running polls to end.'),
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
  LEDGER_CHECK_S: withDefault(integer(1, 86_400), 60, 'How often one of the workers checks the ledger.'),
} as const;
