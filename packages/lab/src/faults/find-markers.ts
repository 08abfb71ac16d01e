import { setTimeout as sleep } from 'node:timers/promises';
import { mastersOf, type RedisClient } from '@eloquentpoll/bus';
import { queryOnce } from '@eloquentpoll/services/databases';
import type { RedisCluster } from '@eloquentpoll/services/redis-cluster';
import { scanKeys } from '@eloquentpoll/services/redis-keys';
import type { Stores } from '../fixture/stores.ts';
import { onServer } from './cluster-servers.ts';

// Markers are words that occur only in texts of callers who delete them. Where a marker is found, such a text is still
// stored.

export interface Found {
  readonly marker: string;
  /** A table, a Redis key, a log, or an answer. */
  readonly place: string;
  /** Time until the Redis key expires, if it does. */
  readonly goesInMs?: number;
}

const PREFIX = 'zqmark';
const MARKER = new RegExp(`${PREFIX}[0-9a-f]{12}`, 'g');
const HEX_PREFIX = Buffer.from(PREFIX).toString('hex');
const HEX_MARKER = new RegExp(`${HEX_PREFIX}(?:3[0-9]|6[1-6]){12}`, 'g');

/** Twelve hexadecimal digits after a prefix that occurs nowhere else. */
export const newMarker = (hex12: string): string => `${PREFIX}${hex12}`;

export function markersIn(text: string): string[] {
  const bytes = (text.match(HEX_MARKER) ?? []).map((hex) => Buffer.from(hex, 'hex').toString());
  return [...new Set([...(text.match(MARKER) ?? []), ...bytes])];
}

const foundIn = (text: string, place: string): Found[] => markersIn(text).map((marker) => ({ marker, place }));

/** Searches every row of every table in this database, including monthly partitions. */
export async function findInPostgres(url: string, where = 'Postgres'): Promise<Found[]> {
  const tables = await queryOnce<{ name: string }>(
    url,
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and relname not like 'lab\\_%'`,
  );
  const all = tables.map(
    ({ name }) =>
      `select '${name}' as name, x::text as row from "${name}" x where x::text like '%${PREFIX}%' or x::text like '%${HEX_PREFIX}%'`,
  );
  const rows = await queryOnce<{ name: string; row: string }>(url, all.join(' union all '));
  return rows.flatMap(({ name, row }) => foundIn(row, `${where}, ${name}`));
}

/** A cluster on a busy machine may elect new masters on its own. The search is then repeated. */
const UNSETTLED = /\b(CLUSTERDOWN|ASK|TRYAGAIN)\b/;
const SERVED_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 500;

/** Searches the names and values of all keys of the experiment. */
export const findInRedis = ({ bus, redisPrefix }: Pick<Stores, 'bus' | 'redisPrefix'>): Promise<Found[]> =>
  whileServed(async () => {
    const found: Found[] = [];
    for (const master of mastersOf(bus.redis))
      found.push(...(await findInServer(master, redisPrefix, { reader: bus.redis })));
    return found;
  });

/** A replica follows its master within moments. */
const FOLLOWS_MS = 2_000;

export interface FoundInServers {
  readonly found: readonly Found[];
  /** Keys of slots that their server has lost. No client can read them there. */
  readonly unserved: number;
}

/** Searches each server of a cluster itself: a replica may have kept what its master has deleted. */
export async function findInServers({ servers }: RedisCluster, redisPrefix: string): Promise<FoundInServers> {
  const look = () =>
    whileServed(async () => {
      const found: Found[] = [];
      const unserved: string[] = [];
      for (const [n, server] of servers.entries())
        found.push(
          ...(await onServer(server, async (redis) => {
            await redis.readonly();
            return findInServer(redis, redisPrefix, { where: `Redis server ${n + 1}`, unserved });
          })),
        );
      return { found, unserved };
    });
  const first = await look();
  if (first.found.length === 0 && first.unserved.length === 0) return { found: [], unserved: 0 };
  await sleep(FOLLOWS_MS);
  const { found, unserved } = await look();
  return {
    found: stillFound(first.found, found),
    unserved: unserved.filter((key) => first.unserved.includes(key)).length,
  };
}

export const stillFound = (before: readonly Found[], now: readonly Found[]): Found[] =>
  now.filter(({ marker, place }) => before.some((one) => one.marker === marker && one.place === place));

async function whileServed<Seen>(look: () => Promise<Seen>): Promise<Seen> {
  const giveUpAt = performance.now() + SERVED_WITHIN_MS;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (performance.now() > giveUpAt || !UNSETTLED.test(String(error))) throw error;
    }
    await sleep(LOOK_EVERY_MS);
  }
}

type Reader = Pick<RedisClient, 'pttl' | 'type' | 'get' | 'hgetall' | 'lrange' | 'smembers' | 'zrange'>;

/** `reader`: reads the keys that are on the server; the server itself without it. `unserved` gets those it cannot read. */
export async function findInServer(
  server: Reader & Pick<RedisClient, 'scan'>,
  redisPrefix: string,
  { reader = server, where = 'Redis', unserved }: { reader?: Reader; where?: string; unserved?: string[] } = {},
): Promise<Found[]> {
  const found: Found[] = [];
  const look = async (key: string): Promise<void> => {
    const goesInMs = await reader.pttl(key);
    const markers = foundIn(`${key} ${await textAt(reader, key)}`, `${where}, ${key}`);
    found.push(...markers.map((one) => (goesInMs < 0 ? one : { ...one, goesInMs })));
  };
  for await (const keys of scanKeys(server, `*${redisPrefix}*`))
    for (const key of keys)
      await look(key).catch((error) => {
        if (unserved === undefined || !/\bMOVED\b/.test(String(error))) throw error;
        unserved.push(`${where}, ${key}`);
      });
  return found;
}

async function textAt(redis: Reader, key: string): Promise<string> {
  switch (await redis.type(key)) {
    case 'string':
      return String(await redis.get(key));
    case 'hash':
      return JSON.stringify(await redis.hgetall(key));
    case 'list':
      return JSON.stringify(await redis.lrange(key, 0, -1));
    case 'set':
      return JSON.stringify(await redis.smembers(key));
    case 'zset':
      return JSON.stringify(await redis.zrange(key, '0', '-1'));
    default:
      return '';
  }
}
