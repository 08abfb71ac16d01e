// Reading is a list; deciding has names and clear errors. Nothing else looks at the environment.

export interface Config {
  databaseUrl: string;
  redisUrl: string;
  redisPrefix: string;
  modelsFile: string | undefined;
  modelsBaseUrl: string | undefined;
  /** The key of a model provider, by the name of the variable that its roster entry names. */
  providerKey(variable: string): string | undefined;
  concurrency: number;
  drainMs: number;
  logLevel: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function readConfig(env: Environment): Config {
  return {
    databaseUrl: required(env, 'DATABASE_URL', 'postgres://user:password@host:5432/name'),
    redisUrl: required(env, 'REDIS_URL', 'redis://host:6379'),
    redisPrefix: env.REDIS_PREFIX || 'ep',
    modelsFile: env.MODELS_FILE || undefined,
    modelsBaseUrl: env.MODELS_BASE_URL || undefined,
    providerKey: (variable) => env[variable] || undefined,
    concurrency: wholeNumber(env, 'WORKER_CONCURRENCY', 50, 1, 1_000),
    drainMs: wholeNumber(env, 'WORKER_DRAIN_MS', 20_000, 0, 120_000),
    logLevel: env.LOG_LEVEL || 'info',
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
