import { Failure } from '@eloquentpoll/launch/failure';
import { postgresUrls } from '@eloquentpoll/ops/postgres-address';
import { readRedisAddress } from '@eloquentpoll/ops/redis-address';

// Reads the settings from the environment before anything is started. A wrong or contradictory setting is reported in
// one sentence that names the variable and the remedy; values that may contain a secret are not repeated.

export interface StartSettings {
  host: string;
  /** 0 means any free port. */
  port: number;
  baseUrl: string | null;
  databaseUrl: string | null;
  /** URL of the role that owns the schema, if the apps use another role. */
  migrateDatabaseUrl: string | null;
  redisUrl: string | null;
  modelsFile: string | null;
  modelsBaseUrl: string | null;
}

const KEYS = [
  'OPENROUTER_API_KEY',
  'OPENAI_API_KEY',
  'ANTHROPIC_API_KEY',
  'GEMINI_API_KEY',
  'MISTRAL_API_KEY',
  'DEEPSEEK_API_KEY',
  'XAI_API_KEY',
] as const;

export function readStartSettings(env: NodeJS.ProcessEnv): StartSettings {
  for (const name of KEYS) {
    const key = env[name]?.trim();
    if (key && !/^[\x21-\x7e]{8,512}$/.test(key))
      throw new Failure(
        `${name} is not an API key: it has blanks, line breaks or strange characters, or is too short.`,
      );
  }
  const settings: StartSettings = {
    host: env.HOST?.trim() || '127.0.0.1',
    port: port(env.PORT?.trim()),
    baseUrl: origin(env.BASE_URL?.trim()),
    databaseUrl: databaseAddress(env, 'DATABASE_URL'),
    migrateDatabaseUrl: databaseAddress(env, 'MIGRATE_DATABASE_URL'),
    redisUrl: redisAddress(env.REDIS_URL?.trim()),
    modelsFile: env.MODELS_FILE?.trim() || null,
    modelsBaseUrl: address(env, 'MODELS_BASE_URL', ['http:', 'https:'], 'https://openrouter.ai/api/v1'),
  };
  if (settings.migrateDatabaseUrl && !settings.databaseUrl)
    throw new Failure('MIGRATE_DATABASE_URL is for a database of your own: set DATABASE_URL too, or leave it out.');
  const [database] = postgresUrls(settings.databaseUrl ?? '') ?? [];
  if (database && URL.parse(database)!.pathname.length <= 1)
    throw new Failure(
      'DATABASE_URL names no database: add its name at the end, as in postgres://user:password@host:5432/name.',
    );
  if (settings.baseUrl?.startsWith('http://') && settings.port === 0 && !URL.parse(settings.baseUrl)?.port)
    throw new Failure('BASE_URL and PORT=0 contradict each other: give a port, or leave BASE_URL out.');
  return settings;
}

function port(text: string | undefined): number {
  if (!text) return 8080;
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= 65_535))
    throw new Failure(`PORT is "${text}": give a whole number from 1 to 65535, or 0 for any free port.`);
  return value;
}

function origin(text: string | undefined): string | null {
  if (!text) return null;
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.pathname !== '/' || url.search || url.hash)
    throw new Failure('BASE_URL must be an http or https origin without a path, such as https://polls.example.com.');
  return url.origin;
}

function redisAddress(text: string | undefined): string | null {
  if (!text) return null;
  if (!readRedisAddress(text))
    throw new Failure(
      'REDIS_URL is not an address that can be used: write it like redis://host:6379, or leave it out.',
    );
  return text;
}

function databaseAddress(env: NodeJS.ProcessEnv, name: string): string | null {
  const text = env[name]?.trim();
  if (!text) return null;
  if (!postgresUrls(text))
    throw new Failure(
      `${name} is not an address that can be used: write it like postgres://user:password@host:5432/name, or leave it out.`,
    );
  return text;
}

function address(env: NodeJS.ProcessEnv, name: string, protocols: string[], example: string): string | null {
  const text = env[name]?.trim();
  if (!text) return null;
  const url = URL.parse(text);
  if (!url || !protocols.includes(url.protocol) || !url.hostname)
    throw new Failure(`${name} is not an address that can be used: write it like ${example}, or leave it out.`);
  return text;
}
