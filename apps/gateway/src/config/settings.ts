import type { Environment } from './environment.ts';

// How single settings are read. What is wrong with one is a sentence that names the variable and repeats no secret.

export class ConfigError extends Error {
  constructor(variable: keyof Environment, problem: string) {
    super(`${variable}: ${problem}`);
    this.name = 'ConfigError';
  }

  /** For what only shows when the setting is used. */
  static from(variable: keyof Environment, error: unknown): ConfigError {
    const problem = error instanceof Error ? error.message : String(error);
    return new ConfigError(variable, problem.replace(`${variable}: `, ''));
  }
}

export function integer(
  env: Environment,
  name: keyof Environment,
  byDefault: number,
  min: number,
  max: number,
): number {
  const text = env[name];
  if (text === undefined) return byDefault;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) {
    throw new ConfigError(name, `must be a whole number from ${min} to ${max}, not "${text}"`);
  }
  return value;
}

export function url(env: Environment, name: keyof Environment, protocols: string[]): string {
  const text = env[name];
  const shape = protocols.map((protocol) => `${protocol}//...`).join(' or ');
  if (text === undefined) throw new ConfigError(name, `is not set; it must be a URL such as ${shape}`);
  // The text itself is not repeated: a URL may hold a password.
  if (!protocols.includes(URL.parse(text)?.protocol ?? ''))
    throw new ConfigError(name, `must be a URL such as ${shape}`);
  return text;
}

export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);

/** For servers that see secrets or decide about money: nobody in between may read or answer. */
export function httpsUrl(env: Environment, name: keyof Environment): string {
  const { protocol, hostname, username } = new URL(url(env, name, ['http:', 'https:']));
  if (username) throw new ConfigError(name, 'must hold no user or password');
  if (protocol === 'http:' && !isLoopback(hostname)) {
    throw new ConfigError(name, 'must be https, unless it is on this machine');
  }
  return env[name] ?? '';
}
