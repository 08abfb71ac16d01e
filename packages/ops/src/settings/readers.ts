import { postgresUrls } from '../postgres-address.ts';
import { readRedisAddress } from '../redis-address.ts';

// How the text of one setting becomes a value. A reader says in `form` how the text is written, for the error and for
// the table in docs/settings.md; it answers undefined for a text of another form.

export interface Reader<T> {
  form: string;
  /** In the start line: the text, only where an address leads, or only that it is set. */
  shown: 'text' | 'address' | 'set';
  read(text: string): T | undefined;
}

export const text = (form: string, pattern = /^/): Reader<string> => ({
  form,
  shown: 'text',
  read: (value) => (pattern.test(value) ? value : undefined),
});

export const atLeast32 = text('at least 32 characters', /^.{32,}$/s);

export const integer = (min: number, max: number): Reader<number> => ({
  form: `a whole number from ${min} to ${max}`,
  shown: 'text',
  read: (value) => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  },
});

export const share: Reader<number> = {
  form: 'a share from 0 to 1',
  shown: 'text',
  read: (value) => (/^(0|1|0?\.\d+|1\.0+)$/.test(value) ? Number(value) : undefined),
};

/** Digit by digit, so that no cent is lost to binary fractions. */
export const microUsd: Reader<bigint> = {
  form: 'US dollars such as 5 or 2.50',
  shown: 'text',
  read: (value) => {
    const [, dollars, fraction = ''] = /^(\d{1,6})(?:\.(\d{1,6}))?$/.exec(value) ?? [];
    return dollars === undefined ? undefined : BigInt(dollars + fraction.padEnd(6, '0'));
  },
};

export const oneOf = <T extends string>(values: readonly T[]): Reader<T> => ({
  form: `one of ${values.join(', ')}`,
  shown: 'text',
  read: (value) => values.find((known) => known === value),
});

export const onOff: Reader<boolean> = {
  form: 'on or off',
  shown: 'text',
  read: (value) => (value === 'on' || value === 'off' ? value === 'on' : undefined),
};

/** One server, a cluster or Sentinels. */
export const redisUrl: Reader<string> = {
  form: 'a URL such as redis://host:6379, redis://one:6379,two:6379 for a cluster, redis+sentinel://one:26379/master; rediss for TLS',
  shown: 'address',
  read: (value) => (readRedisAddress(value) ? value : undefined),
};

export const postgresUrl: Reader<string> = {
  form: 'a URL such as postgres://user:password@host:5432/name, or postgres://...@one:5432,two:5432/name for a primary and its standbys',
  shown: 'address',
  read: (value) => (postgresUrls(value) ? value : undefined),
};

/** May hold a password, so it is neither repeated in an error nor shown whole. */
export const url = (...protocols: string[]): Reader<string> => ({
  form: `a URL such as ${protocols.map((protocol) => `${protocol}//...`).join(' or ')}`,
  shown: 'address',
  read: (value) => (protocols.includes(URL.parse(value)?.protocol ?? '') ? value : undefined),
});

export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);

/** For servers that see secrets or decide about money. */
export const httpsUrl: Reader<string> = {
  form: 'an https URL without user or password; http only on this machine',
  shown: 'address',
  read: (value) => {
    const { protocol, hostname, username } = URL.parse(value) ?? {};
    if (username || !hostname) return undefined;
    return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname)) ? value : undefined;
  },
};

/** `key=value,key=value`, percent-encoded. */
export const pairs: Reader<Record<string, string>> = {
  form: 'pairs such as key=value, separated by commas',
  shown: 'set',
  read: (value) => {
    const entries = value.split(',').filter((entry) => entry.trim() !== '');
    if (entries.some((entry) => entry.indexOf('=') < 1)) return undefined;
    return Object.fromEntries(entries.map((entry) => splitPair(entry, entry.indexOf('='))));
  },
};

const splitPair = (entry: string, at: number): [string, string] => [
  entry.slice(0, at).trim(),
  decoded(entry.slice(at + 1).trim()),
];

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

export const list = <T>(each: Reader<T>, max = 100): Reader<T[]> => ({
  form: `${each.form}; several are separated by commas`,
  shown: each.shown,
  read: (value) => {
    const values = value.split(',').map((entry) => each.read(entry.trim()));
    return values.length <= max && values.every((one) => one !== undefined) ? values : undefined;
  },
});

/** Never repeated, never shown. */
export const secret = <T>(reader: Reader<T>): Reader<T> => ({ ...reader, shown: 'set' });
