import { type LogLevel, type TraceSettings, traceSettings } from '@eloquentpoll/ops';
import {
  type Environment,
  readSettings,
  refuseClearText,
  SettingError,
  type Values,
  type WebhookSettings,
  webhookSettings,
} from '@eloquentpoll/ops/settings';
import type { FreeFailures } from '@eloquentpoll/storage';
import packageJson from '../package.json' with { type: 'json' };
import { WORKER_SETTINGS } from './settings-table.ts';

export interface Config {
  databaseUrl: string;
  databasePool: number;
  /** To wait for a connection; as storage has it without this. */
  databaseConnectTimeoutMs?: number;
  redisUrl: string;
  redisPrefix: string;
  queueShards: number;
  /** As the bus has it without this. */
  redisCommandTimeoutMs?: number;
  modelsFile: string | undefined;
  modelsBaseUrl: string | undefined;
  /** Whether a provider must be asked by https, unless it is on this machine. */
  modelsHttpsOnly: boolean;
  /** The keys of model providers, and what their addresses leave open, by the variables that the roster file names. */
  setting(variable: string): string | undefined;
  concurrency: number;
  /** So many of these slots are kept for tenants with few running polls in this worker. */
  reserved: number;
  /** The same for flex polls, which have slots of their own. */
  flex: { concurrency: number; reserved: number };
  drainMs: number;
  logLevel: LogLevel;
  /** What accounts have free per UTC day of calls that their questions make fail. */
  freeFailures: FreeFailures;
  /** Tests of each model; undefined leaves it to the kind of models. */
  canariesPerDay: number | undefined;
  canaryDayCapU: bigint;
  /** What audits may cost per UTC day, and how often track records are read again. */
  audits: { dailyU: bigint; refreshMs: number };
  /** What providers may charge the fleet; null where the operator names nothing. */
  providerSpend: { hourU: bigint | null; dayU: bigint | null; freeShare: number };
  /** Whether results have a second reading. */
  readings: boolean;
  /** How often one of the workers audits the ledger. */
  ledgerCheckMs: number;
  /** Where metrics and probes are served; null where they are not. */
  ops: { host: string; port: number } | null;
  /** Where traces go; null without a collector. */
  traces: TraceSettings | null;
  gitCommit: string | null;
  /** Null where none are sent. */
  webhooks: WebhookSending | null;
}

export interface WebhookSending extends WebhookSettings {
  /** Begins the links in a message. */
  baseUrl: string;
  concurrency: number;
}

export function readConfig(env: Environment): Config {
  const values = readSettings(WORKER_SETTINGS, env);
  refuseClearText(values, 'MODELS_BASE_URL');
  return {
    databaseUrl: values.DATABASE_URL,
    databasePool: values.DATABASE_POOL,
    redisUrl: values.REDIS_URL,
    redisPrefix: values.REDIS_PREFIX,
    queueShards: values.QUEUE_SHARDS,
    modelsFile: values.MODELS_FILE,
    modelsBaseUrl: values.MODELS_BASE_URL,
    modelsHttpsOnly: values.NODE_ENV === 'production',
    setting: (variable) => env[variable] || undefined,
    concurrency: values.WORKER_CONCURRENCY,
    reserved: Math.floor(values.WORKER_CONCURRENCY * values.WORKER_RESERVED_SHARE),
    flex: {
      concurrency: values.WORKER_FLEX_CONCURRENCY,
      reserved: Math.floor(values.WORKER_FLEX_CONCURRENCY * values.WORKER_RESERVED_SHARE),
    },
    drainMs: values.WORKER_DRAIN_MS,
    logLevel: values.LOG_LEVEL,
    freeFailures: {
      atLeastU: values.FREE_FAILURES_USD,
      sharePpm: Math.round(values.FREE_FAILURES_SHARE * 1_000_000),
    },
    canariesPerDay: values.CANARIES_PER_DAY,
    canaryDayCapU: values.CANARY_DAILY_CAP_USD,
    audits: { dailyU: values.AUDIT_DAILY_CAP_USD, refreshMs: values.AUDIT_REFRESH_S * 1_000 },
    providerSpend: {
      hourU: values.PROVIDER_SPEND_HOUR_USD ?? null,
      dayU: values.PROVIDER_SPEND_DAY_USD ?? null,
      freeShare: values.PROVIDER_SPEND_FREE_SHARE,
    },
    readings: values.READINGS,
    ledgerCheckMs: values.LEDGER_CHECK_S * 1_000,
    ops: values.OPS_PORT === undefined ? null : { host: values.OPS_HOST, port: values.OPS_PORT },
    traces: traceSettings(values, 'worker', packageJson.version),
    gitCommit: values.GIT_COMMIT?.slice(0, 12) ?? null,
    webhooks: webhookSending(values),
  };
}

function webhookSending(values: Values<typeof WORKER_SETTINGS>): WebhookSending | null {
  const settings = webhookSettings(values);
  if (!settings) return null;
  if (values.BASE_URL === undefined) throw new SettingError('BASE_URL', 'is not set; it begins the links in webhooks');
  return { ...settings, baseUrl: new URL(values.BASE_URL).origin, concurrency: values.WEBHOOK_CONCURRENCY };
}
