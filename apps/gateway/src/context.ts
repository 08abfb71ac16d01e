import { type Bus, openBus, STORED_KINDS, type StoredKind } from '@eloquentpoll/bus';
import { type Metrics, openMetrics, openTracing } from '@eloquentpoll/ops';
import { SettingError } from '@eloquentpoll/ops/settings';
import { openReplica, openStorage, type Replica, type Storage } from '@eloquentpoll/storage';
import { openAccountsContext } from './accounts/context.ts';
import type { Config } from './config/config.ts';
import type { ProcessContext } from './config/context.ts';
import { createLog, type Logger } from './config/log.ts';
import { type DiscoveryContext, openDiscoveryContext } from './discovery/context.ts';
import { openHttpContext } from './http/context.ts';
import { openPaymentsContext, type PaymentsContext } from './payments/context.ts';
import { openPanels, openPollsContext } from './polls/context.ts';

// Composition root: opens everything that has a connection, folder by folder. Tests override parts.

type Parts = DiscoveryContext & PaymentsContext;

export interface Context extends Parts, AsyncDisposable {}

/** Everything opened here closes with the context; overrides stay open. */
export async function openContext(config: Config, overrides: Partial<Parts> = {}): Promise<Context> {
  await using owned = new AsyncDisposableStack();
  const process = await openProcessContext(config, owned, overrides);
  const { log, metrics } = process;
  // Read before any connection is made, so that a faulty file is reported as a wrong setting.
  const panels = overrides.panels ?? openPanels(config);
  const storage = overrides.storage ?? owned.use(openStorage(storageOptions(config, log, metrics)));
  const replica = connectReplica(config, storage, log);
  if (replica) owned.use(replica);
  const bus = overrides.bus ?? owned.use(await connectBus(config, log, metrics));
  const takesDeposits = (overrides.deposits ?? config.deposits) !== null;
  const http = openHttpContext({ ...process, storage, replica, bus, takesDeposits }, owned, overrides);
  const accounts = openAccountsContext(http, owned, overrides);
  const polls = openPollsContext(accounts, owned, { ...overrides, panels });
  const payments = openPaymentsContext(accounts, overrides);
  const discovery = await openDiscoveryContext(polls, owned, overrides);
  const kept = owned.move();
  return { ...discovery, ...payments, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

async function openProcessContext(
  config: Config,
  owned: AsyncDisposableStack,
  overrides: Partial<ProcessContext>,
): Promise<ProcessContext> {
  const metrics = overrides.metrics ?? openMetrics('gateway');
  const log = overrides.log ?? createLog(config, undefined, metrics);
  const tracer = overrides.tracer ?? (await openTracing(metrics, config.traces));
  if (tracer && !overrides.tracer) owned.use(tracer);
  return { config, metrics, log, tracer };
}

function storageOptions({ database }: Config, log: Logger, metrics: Metrics) {
  const waits = metrics.histogram('eloquentpoll_postgres_pool_wait_seconds');
  return {
    databaseUrl: database.url,
    maxConnections: database.maxConnections,
    ...(database.connectTimeoutMs !== undefined && { connectTimeoutMs: database.connectTimeoutMs }),
    ...(database.askAgainForMs !== undefined && { askAgainForMs: database.askAgainForMs }),
    applicationName: 'eloquentpoll-gateway',
    onConnection: (waitedMs: number) => waits.observe(waitedMs / 1_000),
    onUnlimited: () => log.warn('postgres.no_statement_timeout'),
    onOlderPrimary: () => log.error('postgres.older_primary_refused'),
  };
}

function connectReplica({ database }: Config, primary: Storage, log: Logger): Replica | null {
  const { replica, maxConnections } = database;
  if (!replica) return null;
  return openReplica({
    primary,
    replicaUrl: replica.url,
    maxLagMs: replica.maxLagMs,
    maxConnections,
    applicationName: 'eloquentpoll-gateway',
    onState: (state) => log.info({ state }, 'postgres.replica'),
  });
}

async function connectBus({ redis }: Config, log: Logger, metrics: Metrics): Promise<Bus> {
  const failures = metrics.counter('eloquentpoll_redis_errors_total');
  const refused = (kind: StoredKind) => metrics.counter('eloquentpoll_redis_values_refused_total', kind);
  for (const kind of STORED_KINDS) refused(kind);
  try {
    return await openBus({
      redisUrl: redis.url,
      prefix: redis.prefix,
      queueShards: redis.queueShards,
      ...(redis.commandTimeoutMs !== undefined && { commandTimeoutMs: redis.commandTimeoutMs }),
      onError(error: Error) {
        failures.n += 1;
        log.warn({ err: error }, 'redis.connection_failed');
      },
      onRefused(kind) {
        refused(kind).n += 1;
        log.warn({ kind }, 'redis.value_refused');
      },
    });
  } catch (error) {
    throw SettingError.from('REDIS_URL', error);
  }
}
