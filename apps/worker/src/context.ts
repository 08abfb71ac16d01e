import { randomBytes } from 'node:crypto';
import { type Bus, openBus, STORED_KINDS, type StoredKind } from '@eloquentpoll/bus';
import type { ServiceTier } from '@eloquentpoll/contracts';
import { openAsker } from '@eloquentpoll/models/ask';
import { type ModelHealth, openHealth } from '@eloquentpoll/models/health';
import { loadPanels, type Panels } from '@eloquentpoll/models/panels';
import { type Logger, type Metrics, openLog, openMetrics, openTracing } from '@eloquentpoll/ops';
import { spendCeiling } from '@eloquentpoll/polls';
import {
  type ClaimCeiling,
  type FreeFailures,
  keepTrackRecords,
  openStorage,
  type Storage,
} from '@eloquentpoll/storage';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import type { Evidence } from './evidence/evidence.ts';
import { keepEvidence } from './evidence/keep-evidence.ts';
import { type HedgeBudget, hedgeBudget } from './hedge-budget.ts';
import { keepLeases, type Leases } from './leases.ts';
import { jobTraces, NO_TRACES } from './ops/job-traces.ts';
import { type JobActivity, jobActivity } from './ops/liveness.ts';
import { observedAsk } from './ops/observed-ask.ts';
import { observedAudits } from './ops/observed-audits.ts';
import { observedBus } from './ops/observed-bus.ts';
import { observedPolls } from './ops/observed-polls.ts';
import { rejectionReport } from './ops/rejections.ts';
import type { Ask, AuditStore, PollBus, PollStore } from './ports.ts';
import { storedAudits } from './stored-audits.ts';
import { storedPolls } from './stored-polls.ts';

/** Everything that the engine gets from outside, including time and randomness. A simulation provides its own. */
export interface Context extends AsyncDisposable {
  workerId: string;
  polls: PollStore;
  /** Null: this worker makes no audits and learns from none. */
  audits: AuditStore | null;
  bus: PollBus;
  ask: Ask;
  leases: Leases;
  hedges: HedgeBudget;
  /** Allowance per account for calls that failed because of the question. */
  freeFailures: FreeFailures;
  /** What is known about the models, for the results of their polls. */
  evidence: Evidence;
  clock: Clock;
  /** In [0, 1). */
  random(): number;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** The resources behind the ports of a real worker. The ops port uses them. */
export interface Resources {
  metrics: Metrics;
  storage: Storage;
  redis: Bus;
  models: ModelHealth;
  panels: Panels;
  activity: Record<ServiceTier, JobActivity>;
}

export interface OpenContext extends Context {
  resources: Resources;
}

/** The composition root. Metrics and traces wrap the ports, so the engine has no code for them. */
export async function openContext(config: Config, metrics: Metrics = openMetrics('worker')): Promise<OpenContext> {
  await using opened = new AsyncDisposableStack();
  const log = openLog(metrics, config.logLevel);
  const workerId = `w_${randomBytes(8).toString('hex')}`;
  const tracer = await openTracing(metrics, config.traces);
  if (tracer) opened.use(tracer);
  const traces = tracer ? jobTraces(tracer) : NO_TRACES;
  const activity = { standard: jobActivity(), flex: jobActivity() };
  const storage = opened.use(connectStorage(config, log, metrics));
  const onError = (err: unknown) => log.warn({ err }, 'track_record.read_failed');
  const records = keepTrackRecords(storage, { freshMs: config.audits.refreshMs, onError });
  const redis = opened.use(await connectBus(config, log, metrics));
  const onDeleted = (pollIds: readonly string[]) =>
    void redis.forgetPolls(pollIds).catch((err) => log.warn({ err }, 'polls.deletion_not_announced'));
  const { modelsFile: file, modelsBaseUrl: baseUrl, modelsHttpsOnly: httpsOnly } = config;
  const panels = loadPanels({ file, baseUrl, httpsOnly });
  const models = panels.models().map(({ id }) => id);
  const polls = observedPolls(
    storedPolls(storage, {
      ...{ records, onDeleted, ceiling: claimCeiling(config, panels) },
      onClaimsLost: (err) => log.warn({ err }, 'claims.lost_together'),
    }),
    models,
    metrics,
    traces,
  );
  const ceiling = spendCeiling(config.providerSpend, panels.simulated, 'free');
  const audits = observedAudits(storedAudits(storage, { dayCapU: config.audits.dailyU, ceiling }), metrics);
  const ask = observedAsk(openModels(opened, config, panels, redis, { log, metrics }), metrics, traces);
  const leases = keepLeases(polls, workerId, systemClock, (err) => log.warn({ err }, 'leases.renewal_failed'));
  opened.defer(() => leases.stop());
  redis.onCancel((pollId) => leases.look(pollId));
  const { simulated } = panels;
  const evidence = opened.use(keepEvidence(storage, { simulated, readings: config.readings, log }));
  const owned = opened.move();
  return {
    workerId,
    polls,
    audits,
    bus: observedBus(redis, metrics, activity, traces),
    ask,
    leases,
    hedges: hedgeBudget(),
    freeFailures: config.freeFailures,
    evidence,
    clock: systemClock,
    random: Math.random,
    log,
    resources: {
      metrics,
      storage,
      redis,
      models: openHealth({ redis: redis.redis, prefix: redis.prefix, panels }),
      panels,
      activity,
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function claimCeiling({ providerSpend }: Config, { simulated }: Panels): ClaimCeiling | undefined {
  const all = spendCeiling(providerSpend, simulated, 'all');
  return all && { ...all, flex: spendCeiling(providerSpend, simulated, 'flex') };
}

function connectStorage(config: Config, log: Logger, metrics: Metrics): Storage {
  const { databaseUrl, databasePool, databaseConnectTimeoutMs: connectTimeoutMs } = config;
  const waits = metrics.histogram('eloquentpoll_postgres_pool_wait_seconds');
  return openStorage({
    databaseUrl,
    maxConnections: databasePool,
    ...(connectTimeoutMs !== undefined && { connectTimeoutMs }),
    applicationName: 'eloquentpoll-worker',
    onConnection: (waitedMs) => waits.observe(waitedMs / 1_000),
    onUnlimited: () => log.warn('postgres.no_statement_timeout'),
    onOlderPrimary: () => log.error('postgres.older_primary_refused'),
  });
}

function connectBus(config: Config, log: Logger, metrics: Metrics): Promise<Bus> {
  const { redisUrl, redisPrefix, queueShards, redisCommandTimeoutMs: commandTimeoutMs } = config;
  const failures = metrics.counter('eloquentpoll_redis_errors_total');
  const refused = (kind: StoredKind) => metrics.counter('eloquentpoll_redis_values_refused_total', kind);
  for (const kind of STORED_KINDS) refused(kind);
  return openBus({
    redisUrl,
    prefix: redisPrefix,
    queueShards,
    ...(commandTimeoutMs !== undefined && { commandTimeoutMs }),
    onError(err) {
      failures.n += 1;
      log.warn({ err }, 'redis.connection_failed');
    },
    onRefused(kind) {
      refused(kind).n += 1;
      log.warn({ kind }, 'redis.value_refused');
    },
  });
}

interface Reports {
  log: Logger;
  metrics: Metrics;
}

function openModels(
  opened: AsyncDisposableStack,
  config: Config,
  panels: Panels,
  bus: Bus,
  { log, metrics }: Reports,
): Ask {
  const onError = (err: unknown): void => log.warn({ err }, 'models.vote_failed');
  const { redis, prefix } = bus;
  const onRejected = rejectionReport(log, metrics);
  const asker = openAsker({ panels, setting: config.setting, redis, prefix, onError, onRejected });
  return opened.use(asker).ask;
}
