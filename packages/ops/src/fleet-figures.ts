import type { Metrics } from './metrics.ts';

// Figures of the whole service, the same in every process. However many scrapers there are, the stores are asked only
// once every few seconds. Figures of a store that does not answer are omitted.

export interface QueueFigures {
  waiting: number;
  active: number;
  /** Milliseconds since the epoch. Null if none waits. */
  oldestAt: number | null;
}

/** The service tiers. Each has its own queue. */
const LANES = ['standard', 'flex'] as const;
export type Lane = (typeof LANES)[number];

const KEPT = ['polls', 'accounts', 'rows'] as const;
type Kept = (typeof KEPT)[number];

export interface StoreFigures {
  held: number;
  lapsed: number;
  overdue: number;
  buried: number;
  freePoolU: bigint | null;
  batchIdleS: { gateway: number; worker: number };
  spend: { hourU: bigint; dayU: bigint };
  ledger: { checkedAt: Date; violations: number; failures: number };
  monthsEndAt: Date;
  keptTooLong: Record<Kept, Date | null>;
  unsealedSince: Date | null;
  archiveFails: boolean;
}

export interface MoneyFigures {
  misfits: Record<MoneySource, number>;
  lostDeposits: number;
  negative: { accounts: number; owedU: bigint };
  worstCaller: { refusals: number; otherFailures: number; unpaidU: bigint };
}

const MONEY_SOURCES = ['chain', 'card'] as const;
type MoneySource = (typeof MONEY_SOURCES)[number];

const KEPT_MS = 5_000;

export interface FleetSource {
  queue(): Promise<Record<Lane, QueueFigures>>;
  store(): Promise<StoreFigures>;
  money(): Promise<MoneyFigures>;
}

/** Caches the answers for a short time. */
export function fleetFigures(metrics: Metrics, asked: FleetSource): FleetSource {
  const fleet: FleetSource = { queue: keep(asked.queue), store: keep(asked.store), money: keep(asked.money) };
  metrics.reading('eloquentpoll_queue_jobs', async () => {
    const queues = await fleet.queue();
    return LANES.flatMap((lane) => [
      [[lane, 'waiting'], queues[lane].waiting] as const,
      [[lane, 'active'], queues[lane].active] as const,
    ]);
  });
  metrics.reading('eloquentpoll_queue_oldest_seconds', async () => {
    const queues = await fleet.queue();
    return LANES.map((lane) => [[lane], ageS(queues[lane].oldestAt)] as const);
  });
  metrics.reading('eloquentpoll_fleet_polls', async () => {
    const { held, lapsed, overdue } = await fleet.store();
    return [
      [['held'], held],
      [['lapsed'], lapsed],
      [['overdue'], overdue],
    ];
  });
  metrics.reading('eloquentpoll_fleet_buried', async () => (await fleet.store()).buried);
  metrics.reading('eloquentpoll_free_pool_remaining_usd', async () => {
    const { freePoolU } = await fleet.store();
    return freePoolU === null ? null : Number(freePoolU) / 1e6;
  });
  metrics.reading('eloquentpoll_batch_idle_seconds', async () => {
    const { gateway, worker } = (await fleet.store()).batchIdleS;
    return [
      [['gateway'], gateway],
      [['worker'], worker],
    ];
  });
  metrics.reading('eloquentpoll_ledger_violations', async () => (await fleet.store()).ledger.violations);
  metrics.reading('eloquentpoll_ledger_check_failures', async () => (await fleet.store()).ledger.failures);
  metrics.reading(
    'eloquentpoll_ledger_checked_timestamp_seconds',
    async () => (await fleet.store()).ledger.checkedAt.getTime() / 1_000,
  );
  metrics.reading(
    'eloquentpoll_months_end_timestamp_seconds',
    async () => (await fleet.store()).monthsEndAt.getTime() / 1_000,
  );
  metrics.reading('eloquentpoll_kept_too_long_seconds', async () => {
    const { keptTooLong } = await fleet.store();
    return KEPT.map((what) => [[what], ageS(keptTooLong[what]?.getTime() ?? null)] as const);
  });
  metrics.reading('eloquentpoll_receipts_unsealed_seconds', async () =>
    ageS((await fleet.store()).unsealedSince?.getTime() ?? null),
  );
  metrics.reading('eloquentpoll_wal_archive_failing', async () => ((await fleet.store()).archiveFails ? 1 : 0));
  metrics.reading('eloquentpoll_provider_spend_usd', async () => {
    const { hourU, dayU } = (await fleet.store()).spend;
    return [
      [['hour'], Number(hourU) / 1e6],
      [['day'], Number(dayU) / 1e6],
    ];
  });
  moneyFigures(metrics, fleet);
  return fleet;
}

function moneyFigures(metrics: Metrics, { money }: FleetSource): void {
  metrics.reading('eloquentpoll_money_misfits', async () => {
    const { misfits } = await money();
    return MONEY_SOURCES.map((source) => [[source], misfits[source]] as const);
  });
  metrics.reading('eloquentpoll_lost_deposits', async () => (await money()).lostDeposits);
  metrics.reading('eloquentpoll_worst_caller_failures', async () => {
    const { refusals, otherFailures } = (await money()).worstCaller;
    return [
      [['refusal'], refusals],
      [['other'], otherFailures],
    ];
  });
  metrics.reading('eloquentpoll_worst_caller_usd', async () => Number((await money()).worstCaller.unpaidU) / 1e6);
  metrics.reading('eloquentpoll_negative_balances', async () => (await money()).negative.accounts);
  metrics.reading('eloquentpoll_negative_balances_usd', async () => Number((await money()).negative.owedU) / 1e6);
}

const ageS = (since: number | null): number => (since === null ? 0 : Math.max(0, Date.now() - since) / 1_000);

function keep<T>(ask: () => Promise<T>): () => Promise<T> {
  let latest: Promise<T> | null = null;
  let askedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (!latest || performance.now() - askedAt >= KEPT_MS) {
      askedAt = performance.now();
      latest = ask();
      // Failures are not cached.
      latest.catch(() => {
        askedAt = Number.NEGATIVE_INFINITY;
      });
    }
    return latest;
  };
}
