// Parses REDIS_URL: one server, the servers of a cluster, or the Sentinels of a master.
//   redis://user:password@host:6379/0
//   redis://user:password@one:6379,two:6379,three:6379        a cluster; or redis+cluster://host:6379 with one name for all
//   redis+sentinel://user:password@one:26379,two:26379/master
// With rediss instead of redis, connections are encrypted.

export interface RedisAddress {
  kind: 'server' | 'cluster' | 'sentinel';
  hosts: readonly { host: string; port: number }[];
  username?: string;
  password?: string;
  isEncrypted: boolean;
  /** The master's name at the Sentinels. */
  master?: string;
}

const FORM = /^(rediss?)(\+cluster|\+sentinel)?:\/\/(?:([^@/]*)@)?([^@/?#]+)(?:\/([^?#]*))?(\?[^#]*)?$/;
const HOST = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/;
const PORT = 6_379;
const SENTINEL_PORT = 26_379;

/** Null if the text is malformed. */
export function readRedisAddress(text: string): RedisAddress | null {
  const [, protocol, kindSaid, user, authority = '', path = '', query] = FORM.exec(text) ?? [];
  if (!protocol) return null;
  const parts = authority.split(',');
  const kind = kindOf(kindSaid, parts.length);
  const hosts = parts.map((part) => hostOf(part, kind === 'sentinel' ? SENTINEL_PORT : PORT));
  if (!hosts.every((host) => host !== null)) return null;
  if (kind === 'sentinel' ? path === '' : !/^\d{0,4}$/.test(path)) return null;
  if (kind === 'cluster' && !/^0?$/.test(path)) return null;
  if (kind !== 'server' && query !== undefined) return null;
  const [username, password] = credentials(user);
  return {
    kind,
    hosts,
    isEncrypted: protocol === 'rediss',
    ...(username && { username }),
    ...(password && { password }),
    ...(kind === 'sentinel' && { master: path }),
  };
}

function kindOf(said: string | undefined, hosts: number): RedisAddress['kind'] {
  if (said === '+sentinel') return 'sentinel';
  return said === '+cluster' || hosts > 1 ? 'cluster' : 'server';
}

function hostOf(text: string, otherwise: number): { host: string; port: number } | null {
  const [, v6, name, port] = HOST.exec(text) ?? [];
  const host = v6 ?? name;
  const number = port === undefined ? otherwise : Number(port);
  return host === undefined || number < 1 || number > 65_535 ? null : { host, port: number };
}

function credentials(user = ''): (string | undefined)[] {
  const [, username = '', password = ''] = /^([^:]*):?(.*)$/.exec(user) ?? [];
  try {
    return [decodeURIComponent(username), decodeURIComponent(password)];
  } catch {
    return [username, password];
  }
}
