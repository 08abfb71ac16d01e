import { LOG_LEVELS, type LogLevel, TraceSettingError, type TraceSettings, traceSettings } from '@eloquentpoll/ops';
import packageJson from '../package.json' with { type: 'json' };

// Reading is a list; deciding has names and clear errors. Nothing else looks at the environment.

export interface Config {
  databaseUrl: string;
  databasePool: number;
  redisUrl: string;
  redisPrefix: string;
  modelsFile: string | undefined;
  modelsBaseUrl: string | undefined;
  /** The key of a model provider, by the name of the variable that its panel entry names. */
  providerKey(variable: string): string | undefined;
  concurrency: number;
  drainMs: number;
  logLevel: LogLevel;
  /** How often the ledger is checked, by whichever worker comes first. */
  ledgerCheckMs: number;
  /** Where metrics and probes are served; null where they are not. */
  ops: { host: string; port: number } | null;
  /** Where traces go; null where nobody collects them. */
  traces: TraceSettings | null;
  gitCommit: string | null;
}

/** Every variable that is read here, model keys left out. */
export const SETTINGS = [
  'DATABASE_URL',
  'DATABASE_POOL',
  'REDIS_URL',
  'REDIS_PREFIX',
  'MODELS_FILE',
  'MODELS_BASE_URL',
  'WORKER_CONCURRENCY',
  'WORKER_DRAIN_MS',
  'LOG_LEVEL',
  'LEDGER_CHECK_S',
  'OPS_HOST',
  'OPS_PORT',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_SERVICE_NAME',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_TRACES_SAMPLER_ARG',
  'GIT_COMMIT',
] as const;

type Environment = Readonly<Record<string, string | undefined>>;

export function readConfig(env: Environment): Config {
  return {
    databaseUrl: required(env, 'DATABASE_URL', 'postgres://user:password@host:5432/name'),
    databasePool: wholeNumber(env, 'DATABASE_POOL', 10, 1, 1_000),
    redisUrl: required(env, 'REDIS_URL', 'redis://host:6379'),
    redisPrefix: env.REDIS_PREFIX || 'ep',
    modelsFile: env.MODELS_FILE || undefined,
    modelsBaseUrl: env.MODELS_BASE_URL || undefined,
    providerKey: (variable) => env[variable] || undefined,
    concurrency: wholeNumber(env, 'WORKER_CONCURRENCY', 50, 1, 1_000),
    drainMs: wholeNumber(env, 'WORKER_DRAIN_MS', 20_000, 0, 120_000),
    logLevel: logLevel(env),
    ledgerCheckMs: wholeNumber(env, 'LEDGER_CHECK_S', 60, 1, 86_400) * 1_000,
    ops: env.OPS_PORT ? { host: env.OPS_HOST || '127.0.0.1', port: wholeNumber(env, 'OPS_PORT', 0, 0, 65_535) } : null,
    traces: traces(env),
    gitCommit: env.GIT_COMMIT?.slice(0, 12) || null,
  };
}

function required(env: Environment, name: string, example: string): string {
  const value = env[name];
  if (!value) throw new Error(`${name} is not set: give it a value such as ${example}`);
  return value;
}

function wholeNumber(env: Environment, name: string, fallback: number, min: number, max: number): number {
  const text = env[name];
  if (text === undefined || text === '') return fallback;
  const value = Number(text);
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new Error(`${name} is "${text}": it must be a whole number from ${min} to ${max}`);
  }
  return value;
}

function logLevel(env: Environment): LogLevel {
  const level = LOG_LEVELS.find((known) => known === (env.LOG_LEVEL || 'info'));
  if (!level) throw new Error(`LOG_LEVEL is "${env.LOG_LEVEL}": it must be one of ${LOG_LEVELS.join(', ')}`);
  return level;
}

function traces(env: Environment): TraceSettings | null {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  try {
    return traceSettings(given, 'worker', packageJson.version);
  } catch (error) {
    if (error instanceof TraceSettingError) throw new Error(`${error.variable} ${error.message}`);
    throw error;
  }
}
