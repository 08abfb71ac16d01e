import type { Metrics } from '@eloquentpoll/ops';

// Counts incoming money when it is booked.

const CHECKOUTS = ['opened', 'credited', 'expired', 'recreated', 'mismatched'] as const;
const DEPOSITS = ['credited', 'credited_later', 'pending', 'failed'] as const;
const ROUNDS = ['checkouts', 'deposits', 'transfers', 'movements'] as const;
const SOURCES = ['card', 'chain'] as const;

export type ReconciliationRound = (typeof ROUNDS)[number];
type Source = (typeof SOURCES)[number];

export interface MoneyMetrics {
  checkout(outcome: (typeof CHECKOUTS)[number]): void;
  deposit(outcome: (typeof DEPOSITS)[number], amountU?: bigint): void;
  /** In micro-USD; negative when money was taken back. */
  booked(source: Source, amountU: bigint): void;
  failed(round: ReconciliationRound): void;
}

export function moneyMetrics(metrics: Metrics): MoneyMetrics {
  const credited = bySource((source) => metrics.counter('eloquentpoll_credited_usd_total', source));
  const reversed = bySource((source) => metrics.counter('eloquentpoll_reversed_usd_total', source));
  // Created at startup, so that the first event shows as an increase.
  for (const outcome of CHECKOUTS) metrics.counter('eloquentpoll_checkouts_total', outcome);
  for (const outcome of DEPOSITS) metrics.counter('eloquentpoll_deposits_total', outcome);
  for (const round of ROUNDS) metrics.counter('eloquentpoll_reconciliation_failures_total', round);

  const booked = (source: Source, amountU: bigint) => {
    const { [source]: counter } = amountU > 0n ? credited : reversed;
    counter.n += Math.abs(Number(amountU)) / 1e6;
  };
  return {
    booked,
    checkout(outcome) {
      metrics.counter('eloquentpoll_checkouts_total', outcome).n += 1;
    },
    deposit(outcome, amountU = 0n) {
      metrics.counter('eloquentpoll_deposits_total', outcome).n += 1;
      if (amountU > 0n) booked('chain', amountU);
    },
    failed(round) {
      metrics.counter('eloquentpoll_reconciliation_failures_total', round).n += 1;
    },
  };
}

const bySource = <T>(make: (source: Source) => T): Record<Source, T> => ({ card: make('card'), chain: make('chain') });
