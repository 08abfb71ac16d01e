import { LOG_LEVELS } from '../log.ts';
import {
  atLeast32,
  integer,
  isLoopback,
  list,
  microUsd,
  oneOf,
  onOff,
  pairs,
  postgresUrl,
  redisUrl,
  secret,
  share,
  text,
  url,
} from './readers.ts';
import { optional, required, SettingError, withDefault } from './table.ts';

const http = url('http:', 'https:');

/** What gateway and worker read in the same way. */
export const SHARED_SETTINGS = {
  NODE_ENV: optional(text('a name'), 'If it is production, addresses that receive secrets must be https.'),
  BASE_URL: optional(
    http,
    'The public origin of the service; every published link begins with it. Default of the gateway: http://localhost and the port. A worker needs it for webhooks.',
  ),
  DATABASE_URL: required(
    postgresUrl,
    'The database, with user and password. With several hosts, the primary is used, also after a failover.',
  ),
  DATABASE_POOL: withDefault(integer(1, 1_000), 10, 'Maximum number of database connections per process.'),
  REDIS_URL: required(redisUrl, 'Redis, for queue, messages and counters. Several hosts mean a cluster.'),
  REDIS_PREFIX: withDefault(
    text('1 to 32 letters, digits, - or _', /^[\w-]{1,32}$/),
    'ep',
    'The prefix of every key in Redis.',
  ),
  QUEUE_SHARDS: withDefault(
    integer(1, 64),
    1,
    'Number of shards of each queue, spread over the masters of a cluster; about four per master. It must be the same for all gateways and workers; to raise it, start with the workers.',
  ),
  MODELS_FILE: optional(
    text('roster files or names of built-in ones, with commas between them'),
    'Which models vote, and at what price; see docs/providers.md. Default: openrouter.',
  ),
  MODELS_BASE_URL: optional(
    http,
    "An address to which all models' calls are sent, instead of the addresses in the roster file.",
  ),
  PROVIDER_SPEND_HOUR_USD: optional(
    microUsd,
    'Ceiling of provider spend of the whole fleet per hour. Flex polls wait from 80 % of it on. Default: 200, none with simulated models.',
  ),
  PROVIDER_SPEND_DAY_USD: optional(
    microUsd,
    'Ceiling of provider spend of the whole fleet per UTC day. Default: 2000, none with simulated models.',
  ),
  PROVIDER_SPEND_FREE_SHARE: withDefault(
    share,
    0.8,
    'The share of both ceilings from which free polls are refused and audits wait.',
  ),
  AUDIT_REFRESH_S: withDefault(integer(1, 300), 60, 'Seconds after which a process reads a track record again.'),
  WEBHOOK_SEALING_KEYS: optional(
    secret(list(atLeast32)),
    'Keys that encrypt the signing secrets of webhooks in the database: the first encrypts new secrets, all of them decrypt existing ones. Without keys there are no webhooks.',
  ),
  WEBHOOKS_TO_LOOPBACK: withDefault(
    onOff,
    'off',
    'Whether webhooks may also be sent to this machine, with http and to any port from 1024 on; for development.',
  ),
  LOG_LEVEL: withDefault(oneOf(LOG_LEVELS), 'info', 'The lowest level that is logged.'),
  OPS_HOST: withDefault(text('a host name or address'), '127.0.0.1', 'The address on which the ops port listens.'),
  OPS_PORT: optional(
    integer(0, 65_535),
    'The ops port, for metrics, probes and console. If unset, there are none; 0 means any free port.',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    http,
    'The OpenTelemetry collector for traces; /v1/traces is appended to its path.',
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: optional(http, 'The address of the collector, used unchanged.'),
  OTEL_EXPORTER_OTLP_HEADERS: optional(secret(pairs), 'Headers that are sent with every batch of traces.'),
  OTEL_EXPORTER_OTLP_PROTOCOL: withDefault(text('http/json'), 'http/json', 'The only supported protocol.'),
  OTEL_SERVICE_NAME: optional(
    text('a name'),
    'The service name in traces. Default: eloquentpoll-gateway or eloquentpoll-worker.',
  ),
  OTEL_RESOURCE_ATTRIBUTES: optional(pairs, 'Attributes that are added to every trace.'),
  OTEL_TRACES_SAMPLER_ARG: withDefault(share, 1, 'The share of polls that are traced.'),
  GIT_COMMIT: optional(
    text('a hexadecimal commit id', /^[0-9a-f]{7,40}$/),
    'The commit that was built, as reported by health and metrics.',
  ),
} as const;

/** In production, prompts and API keys are sent encrypted, or only within this machine. */
export function refuseClearText(
  values: Readonly<Record<string, unknown> & { NODE_ENV?: string | undefined; MODELS_FILE?: string | undefined }>,
  ...names: readonly string[]
): void {
  // The built-in simulator takes no key, and its prompts are tests.
  if (values.NODE_ENV !== 'production' || values.MODELS_FILE === 'simulator') return;
  for (const name of names) {
    const { protocol, hostname } = URL.parse(String(values[name])) ?? {};
    if (protocol === 'http:' && !isLoopback(hostname!))
      throw new SettingError(name, 'must be https in production; http only on this machine');
  }
}
