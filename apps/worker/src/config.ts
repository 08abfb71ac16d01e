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
  /** How long to wait for a connection. Without it, the default of `storage` applies. */
  databaseConnectTimeoutMs?: number;
  redisUrl: string;
  redisPrefix: string;
  queueShards: number;
  /** Without it, the default of `bus` applies. */
  redisCommandTimeoutMs?: number;
  modelsFile: string | undefined;
  modelsBaseUrl: string | undefined;
  /** Whether providers must be called over https. Providers on this machine are exempt. */
  modelsHttpsOnly: boolean;
  /** Reads a variable that the roster file names: a provider's key, or a part of its address. */
  setting(variable: string): string | undefined;
  concurrency: number;
  /** How many of these slots are kept for tenants with few running polls on this worker. */
  reserved: number;
  /** The same for flex polls, which have their own slots. */
  flex: { concurrency: number; reserved: number };
  drainMs: number;
  logLevel: LogLevel;
  /** Allowance per account and UTC day for calls that failed because of the question. */
  freeFailures: FreeFailures;
  /** Tests per model and day. If undefined, it depends on whether the models are simulated. */
  canariesPerDay: number | undefined;
  canaryDayCapU: bigint;
  /** The maximum that audits may cost per UTC day, and how often track records are reread. */
  audits: { dailyU: bigint; refreshMs: number };
  /** The maximum that providers may charge the fleet. Null: no limit. */
  providerSpend: { hourU: bigint | null; dayU: bigint | null; freeShare: number };
  /** Whether results contain a reading. */
  readings: boolean;
  /** How often one worker of the fleet checks the ledger. */
  ledgerCheckMs: number;
  /** The address of the ops port. Null: it is not opened. */
  ops: { host: string; port: number } | null;
  /** Where traces are sent. Null: no traces. */
  traces: TraceSettings | null;
  gitCommit: string | null;
  /** Null: this worker sends no webhooks. */
  webhooks: WebhookSending | null;
}

export interface WebhookSending extends WebhookSettings {
  /** The base of links in messages. */
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
