import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from './usage-error.ts';

// Keys obtained by `login`, one per service, in a file that only its owner can read.

export interface StoredKey {
  /** The key's id, needed to revoke it. */
  id: string;
  key: string;
}

type Services = Record<string, StoredKey>;

/** Null if the environment defines no place for settings. */
function credentialsFile(env: NodeJS.ProcessEnv): string | null {
  const base = env.XDG_CONFIG_HOME || (env.APPDATA ?? (env.HOME && join(env.HOME, '.config')));
  return base ? join(base, 'eloquentpoll', 'credentials.json') : null;
}

export function readStoredKey(env: NodeJS.ProcessEnv, siteUrl: string): StoredKey | null {
  const file = credentialsFile(env);
  if (file === null) return null;
  const services = readServices(file);
  return Object.hasOwn(services, siteUrl) ? (services[siteUrl] ?? null) : null;
}

/** The file that a key can be stored in. */
export function fileForKey(env: NodeJS.ProcessEnv): string {
  const file = credentialsFile(env);
  if (file === null) throw new UsageError('There is no folder for the key: set HOME or XDG_CONFIG_HOME.');
  return file;
}

export const storeKey = (file: string, siteUrl: string, stored: StoredKey): void =>
  write(file, { ...readServices(file), [siteUrl]: stored });

export function forgetKey(env: NodeJS.ProcessEnv, siteUrl: string): void {
  const file = credentialsFile(env);
  if (file === null) return;
  const { [siteUrl]: _forgotten, ...rest } = readServices(file);
  if (Object.keys(rest).length === 0) rmSync(file, { force: true });
  else write(file, rest);
}

/** Replaces the whole file, so that an interrupted write keeps the old one. */
function write(file: string, services: Services): void {
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(services, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}

function readServices(file: string): Services {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new UsageError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  try {
    const found: unknown = JSON.parse(text);
    if (isServices(found)) return found;
  } catch {
    // Invalid JSON is treated like JSON of another shape.
  }
  throw new UsageError(`${file} is damaged. Remove it and log in again.`);
}

const isServices = (value: unknown): value is Services =>
  isRecord(value) &&
  Object.values(value).every((one) => isRecord(one) && typeof one.id === 'string' && typeof one.key === 'string');

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
