import { postgresUrls } from '../postgres-address.ts';
import { readRedisAddress } from '../redis-address.ts';
import type { Reader } from './readers.ts';

// The settings of a process as a table with a row per variable. Parsing, the list of problems, the redacted start line,
// docs/settings.md and the checks of the manifests come from it.

export interface SettingRow<T = unknown> {
  reader: Reader<T>;
  isRequired: boolean;
  /** The text that stands for an unset variable. */
  byDefault?: string;
  says: string;
  /** Only for the type of the value. */
  readonly value?: T;
}

export type Table = Readonly<Record<string, SettingRow>>;
export type Environment = Readonly<Record<string, string | undefined>>;
export type Values<T extends Table> = { readonly [K in keyof T]: T[K] extends SettingRow<infer V> ? V : never };

export const required = <T>(reader: Reader<T>, says: string): SettingRow<T> => ({ reader, isRequired: true, says });

export const withDefault = <T>(reader: Reader<T>, byDefault: string | number, says: string): SettingRow<T> => ({
  reader,
  isRequired: false,
  byDefault: String(byDefault),
  says,
});

export const optional = <T>(reader: Reader<T>, says: string): SettingRow<T | undefined> => ({
  reader,
  isRequired: false,
  says,
});

/** Which variable is wrong and how; repeats no secret. */
export class SettingError extends Error {
  constructor(variable: string, problem: string) {
    super(`${variable}: ${problem}`);
    this.name = 'SettingError';
  }

  /** For what only shows when the setting is used. */
  static from(variable: string, error: unknown): SettingError {
    const problem = error instanceof Error ? error.message : String(error);
    return new SettingError(variable, problem.replace(`${variable}: `, ''));
  }
}

/** Every variable that is missing or wrong, one per line. */
export class SettingErrors extends Error {
  constructor(problems: readonly SettingError[]) {
    super(problems.map(({ message }) => message).join('\n'));
    this.name = 'SettingErrors';
  }
}

/** An empty variable counts as unset. Throws what is wrong with all of them. */
export function readSettings<T extends Table>(table: T, env: Environment): Values<T> {
  const problems: SettingError[] = [];
  const entries = Object.entries(table).map(([name, row]) => {
    try {
      return [name, readSetting(name, row, env[name]?.trim() || row.byDefault)];
    } catch (error) {
      problems.push(error instanceof SettingError ? error : SettingError.from(name, error));
      return [name, undefined];
    }
  });
  if (problems.length > 0) throw new SettingErrors(problems);
  return Object.fromEntries(entries) as Values<T>;
}

export function readSetting(name: string, { reader, isRequired }: SettingRow, text: string | undefined): unknown {
  if (text === undefined) {
    if (isRequired) throw new SettingError(name, `is not set; it must be ${reader.form}`);
    return undefined;
  }
  const value = reader.read(text);
  if (value !== undefined) return value;
  throw new SettingError(
    name,
    `must be ${reader.form}${reader.shown === 'text' ? `, not ${JSON.stringify(text)}` : ''}`,
  );
}

/** What the start line shows: of a secret only that it is set, of an address only where it leads. */
export function redactedSettings(table: Table, env: Environment): Record<string, string> {
  const set = Object.entries(table).filter(([name]) => env[name]?.trim());
  return Object.fromEntries(set.map(([name, { reader }]) => [name, redacted(reader.shown, env[name] ?? '')]));
}

function redacted(shown: Reader<unknown>['shown'], value: string): string {
  if (shown === 'text') return value;
  return shown === 'address' ? whereTo(value) : 'set';
}

/** Protocol, host and port, and the first word of the path, which is a database's name. */
function whereTo(address: string): string {
  const servers = postgresUrls(address);
  if (servers && servers.length > 1) return servers.map(whereTo).join(', ');
  const redis = readRedisAddress(address);
  if (redis) return [...redis.hosts.map(({ host, port }) => `${host}:${port}`), redis.master].filter(Boolean).join(' ');
  const url = URL.parse(address);
  if (!url?.host) return 'set';
  const [, first = ''] = url.pathname.split('/');
  const isStore = /^(postgres|postgresql):$/.test(url.protocol);
  return `${url.protocol}//${url.host}${isStore && first ? `/${first}` : ''}`;
}
