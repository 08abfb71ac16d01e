import { setTimeout as sleep } from 'node:timers/promises';
import { mastersOf, type RedisClient } from '@eloquentpoll/bus';
import { queryOnce } from '@eloquentpoll/services/databases';
import { scanKeys } from '@eloquentpoll/services/redis-keys';
import type { Stores } from '../fixture/stores.ts';

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

/** A cluster on a busy machine may elect new masters on its own; the search is then repeated. */
const SERVED_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 500;

/** Searches the names and values of all keys of the experiment. */
export async function findInRedis(stores: Pick<Stores, 'bus' | 'redisPrefix'>): Promise<Found[]> {
  const giveUpAt = performance.now() + SERVED_WITHIN_MS;
  for (;;) {
    try {
      return await readRedis(stores);
    } catch (error) {
      if (performance.now() > giveUpAt || !String(error).includes('CLUSTERDOWN')) throw error;
    }
    await sleep(LOOK_EVERY_MS);
  }
}

async function readRedis({ bus, redisPrefix }: Pick<Stores, 'bus' | 'redisPrefix'>): Promise<Found[]> {
  const found: Found[] = [];
  for (const server of mastersOf(bus.redis))
    for await (const keys of scanKeys(server, `*${redisPrefix}*`))
      for (const key of keys) {
        const goesInMs = await bus.redis.pttl(key);
        const markers = foundIn(`${key} ${await textAt(bus.redis, key)}`, `Redis, ${key}`);
        found.push(...markers.map((one) => (goesInMs < 0 ? one : { ...one, goesInMs })));
      }
  return found;
}

async function textAt(redis: RedisClient, key: string): Promise<string> {
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
