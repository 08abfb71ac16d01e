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
  NODE_ENV: optional(text('a name'), 'In production addresses that secrets are sent to must be https.'),
  BASE_URL: optional(
    http,
    'Begins every link that is written; an origin. Default of the gateway: http://localhost and the port. A worker needs it for webhooks.',
  ),
  DATABASE_URL: required(
    postgresUrl,
    'The database, with user and password. Of several hosts the one is used that is the primary, also after a failover.',
  ),
  DATABASE_POOL: withDefault(integer(1, 1_000), 10, 'Connections to it per process.'),
  REDIS_URL: required(redisUrl, 'Queue, messages and counters. Several hosts are a cluster.'),
  REDIS_PREFIX: withDefault(
    text('1 to 32 letters, digits, - or _', /^[\w-]{1,32}$/),
    'ep',
    'Begins the name of every key in Redis.',
  ),
  QUEUE_SHARDS: withDefault(
    integer(1, 64),
    1,
    'Parts of each queue, spread over the masters of a cluster: about four for each. The same for all gateways and workers; raise that of the workers first.',
  ),
  MODELS_FILE: optional(
    text('roster files or names of built-in ones, with commas between them'),
    'Which models vote, and at what price; see docs/providers.md. Default: openrouter.',
  ),
  MODELS_BASE_URL: optional(http, "Where models are asked, instead of the roster file's addresses."),
  PROVIDER_SPEND_HOUR_USD: optional(
    microUsd,
    'The most that model providers may charge the whole fleet for the polls of an hour; flex polls wait at four fifths of it. Default: 200, none with simulated models.',
  ),
  PROVIDER_SPEND_DAY_USD: optional(microUsd, 'The same for a UTC day. Default: 2000, none with simulated models.'),
  PROVIDER_SPEND_FREE_SHARE: withDefault(
    share,
    0.8,
    'The share of both at which free polls are refused and audits wait.',
  ),
  AUDIT_REFRESH_S: withDefault(integer(1, 300), 60, 'How often a process reads the track records that it uses again.'),
  WEBHOOK_SEALING_KEYS: optional(
    secret(list(atLeast32)),
    'Seal the signing secrets of webhooks in the database: the first one new ones, all of them old ones. Without it there are no webhooks.',
  ),
  WEBHOOKS_TO_LOOPBACK: withDefault(
    onOff,
    'off',
    'Whether webhooks may also go to this machine, by http and to any port from 1024; for development.',
  ),
  LOG_LEVEL: withDefault(oneOf(LOG_LEVELS), 'info', 'The least level that is logged.'),
  OPS_HOST: withDefault(text('a host name or address'), '127.0.0.1', 'Where the port for operators listens.'),
  OPS_PORT: optional(integer(0, 65_535), 'Metrics, probes and console; unset, there are none. 0 is any free port.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(http, 'A collector of traces; /v1/traces is added to its path.'),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: optional(http, 'The same, used as it is.'),
  OTEL_EXPORTER_OTLP_HEADERS: optional(secret(pairs), 'Sent with every batch of traces.'),
  OTEL_EXPORTER_OTLP_PROTOCOL: withDefault(text('http/json'), 'http/json', 'The only protocol that is spoken.'),
  OTEL_SERVICE_NAME: optional(text('a name'), 'The service in traces, instead of eloquentpoll-gateway or -worker.'),
  OTEL_RESOURCE_ATTRIBUTES: optional(pairs, 'Added to every trace.'),
  OTEL_TRACES_SAMPLER_ARG: withDefault(share, 1, 'The share of polls that are traced.'),
  GIT_COMMIT: optional(text('a hexadecimal commit id', /^[0-9a-f]{7,40}$/), 'Reported by health and metrics.'),
} as const;

/** In production a prompt and the key that pays for it travel encrypted, or not beyond this machine. */
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
