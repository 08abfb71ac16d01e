import { type Bus, openBus } from '@eloquentpoll/bus';
import { type Health, openHealth } from '@eloquentpoll/models/health';
import { loadPanels, type Panels } from '@eloquentpoll/models/panels';
import type { Registry } from '@eloquentpoll/models/registry';
import { type Metrics, openMetrics, openTracing, type Tracer } from '@eloquentpoll/ops';
import { openStorage, type Storage } from '@eloquentpoll/storage';
import { type KeyHasher, keyHasher } from './accounts/keys/hashed-key.ts';
import { type KeyCache, keyCache } from './accounts/keys/key-cache.ts';
import { type KeyUsage, keyUsage } from './accounts/keys/key-usage.ts';
import { type IdentityProvider, identityProvider } from './accounts/login/identity-provider.ts';
import { ATTEMPT_COOKIE } from './accounts/login/login-attempt.ts';
import { type Sealer, sealer } from './accounts/login/login-cookie.ts';
import { type Config, ConfigError } from './config/config.ts';
import { createLog, type Logger } from './config/log.ts';
import { type RateLimiter, rateLimiter } from './http/rate-limits/rate-limiter.ts';
import { type StreamWheel, streamWheel } from './http/sse/stream-wheel.ts';
import { type Processor, stripeProcessor } from './payments/card/processor.ts';
import { type Desk, openDesk } from './payments/usdc/deposit-service.ts';
import { type SessionBatch, sessionBatch } from './polls/read/run-batch.ts';
import { type SessionMemory, sessionMemory } from './polls/read/run-memory.ts';

// The one place where everything with a connection is made. Tests replace any part; nothing else injects anything.

interface Parts {
  metrics: Metrics;
  log: Logger;
  /** Null where nobody collects traces. */
  tracer: Tracer | null;
  storage: Storage;
  bus: Bus;
  panels: Panels;
  /** How the models have done lately. */
  health: Health;
  /** Lists model variants; null where nobody named one. */
  registry: Registry | null;
  keys: KeyCache;
  hashedKey: KeyHasher;
  usage: KeyUsage;
  limiter: RateLimiter;
  /** Reads sessions from Redis, many at once. */
  sessionBatch: SessionBatch;
  /** What this process knows of sessions. */
  sessions: SessionMemory;
  /** The streams that are open. */
  streams: StreamWheel;
  /** Seals session cookies. */
  sealer: Sealer;
  /** Seals the cookies of login attempts. */
  attemptSealer: Sealer;
  identityProvider: IdentityProvider | null;
  /** Takes card payments; null where nobody set that up. */
  processor: Processor | null;
  /** Takes deposits by wallet; null where nobody set that up. */
  desk: Desk | null;
}

export interface Context extends Readonly<Parts>, AsyncDisposable {
  readonly config: Config;
  /** Aborts when the process was told to leave: it still serves, and asks callers to come back elsewhere. */
  readonly leaving: AbortController;
  /** Aborts when the process has to end: whoever still waits for a poll answers now. */
  readonly shutdown: AbortController;
}

/** What was given is left open; what was made here closes with the context. */
export async function openContext(config: Config, given: Partial<Parts> = {}): Promise<Context> {
  await using made = new AsyncDisposableStack();
  const metrics = given.metrics ?? openMetrics('gateway');
  const log = given.log ?? createLog(config, undefined, metrics);
  const tracer = given.tracer ?? (await openTracing(metrics, config.traces));
  if (tracer && !given.tracer) made.use(tracer);
  const panels = given.panels ?? openPanels(config);
  const storage = given.storage ?? made.use(openStorage(storageOptions(config, metrics)));
  const bus = given.bus ?? made.use(await connectBus(config, log, metrics));
  const health = given.health ?? openHealth({ redis: bus.redis, prefix: bus.prefix, panels });
  const registry = given.registry ?? (await openModelRegistry(config, made));
  const usage = given.usage ?? made.use(keyUsage(storage, log));
  const keys = given.keys ?? keyCache(bus.redis, bus.prefix, storage, usage.note);
  const limiter = given.limiter ?? rateLimiter(bus.redis, bus.prefix, config.rateLimits);
  const sessions = given.sessions ?? made.use(sessionMemory(storage, log));
  const streams = given.streams ?? made.use(streamWheel());
  const keep = made.move();
  return {
    config,
    metrics,
    log,
    tracer,
    panels,
    storage,
    bus,
    health,
    registry,
    keys,
    hashedKey: given.hashedKey ?? keyHasher(config.keyPepper),
    usage,
    limiter,
    sessionBatch: given.sessionBatch ?? sessionBatch({ bus, keys, limiter }),
    sessions,
    streams,
    sealer: given.sealer ?? sealer(config.cookieSecrets),
    attemptSealer: given.attemptSealer ?? sealer(config.cookieSecrets, ATTEMPT_COOKIE),
    identityProvider: given.identityProvider ?? openProvider(config),
    desk: given.desk ?? (config.deposits && openDesk(config.deposits, storage)),
    processor: given.processor ?? (config.checkout && stripeProcessor(config.checkout, config.baseUrl)),
    leaving: new AbortController(),
    shutdown: new AbortController(),
    [Symbol.asyncDispose]: () => keep.disposeAsync(),
  };
}

const openProvider = ({ identityProvider: settings, baseUrl }: Config): IdentityProvider | null =>
  settings && identityProvider(settings, baseUrl);

async function openModelRegistry(
  { models: { registryUrl } }: Config,
  made: AsyncDisposableStack,
): Promise<Registry | null> {
  if (registryUrl === undefined) return null;
  // An HTTP client that nothing else here needs.
  const { openRegistry } = await import('@eloquentpoll/models/registry');
  return made.use(openRegistry(registryUrl));
}

function storageOptions({ database }: Config, metrics: Metrics) {
  const waits = metrics.histogram('eloquentpoll_postgres_pool_wait_seconds');
  return {
    databaseUrl: database.url,
    maxConnections: database.maxConnections,
    applicationName: 'eloquentpoll-gateway',
    onConnection: (waitedMs: number) => waits.observe(waitedMs / 1_000),
  };
}

async function connectBus({ redis }: Config, log: Logger, metrics: Metrics): Promise<Bus> {
  const failures = metrics.counter('eloquentpoll_redis_errors_total');
  try {
    return await openBus({
      redisUrl: redis.url,
      prefix: redis.prefix,
      onError(error: Error) {
        failures.n += 1;
        log.warn({ err: error }, 'redis connection');
      },
    });
  } catch (error) {
    throw ConfigError.from('REDIS_URL', error);
  }
}

function openPanels({ models }: Config): Panels {
  try {
    return loadPanels(models);
  } catch (error) {
    throw ConfigError.from('MODELS_FILE', error);
  }
}
