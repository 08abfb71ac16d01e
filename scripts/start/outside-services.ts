import { mastersOf, producer, type RedisClient } from '@eloquentpoll/bus';
import { Failure } from '@eloquentpoll/launch/failure';
import { postgresUrls } from '@eloquentpoll/ops/postgres-address';
import { readRedisAddress } from '@eloquentpoll/ops/redis-address';
import { withTimeout } from '@eloquentpoll/ops/with-timeout';
import { recentEnough } from '@eloquentpoll/services/redis-program';
import { primaryUrl } from '@eloquentpoll/storage';
import pg from 'pg';

// Checks the user's own Postgres and Redis before the product relies on them: reachable, recent enough, and configured
// so that no data is lost. Addresses are shown without user name and password.

const CONNECT_MS = 5_000;
const OLDEST_POSTGRES = 15;

export async function checkPostgres(url: string): Promise<string> {
  const client = new pg.Client({
    connectionString: await primaryUrl(url),
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: CONNECT_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    const version = rows[0]?.server_version ?? '';
    if (Number.parseInt(version, 10) < OLDEST_POSTGRES)
      throw new Failure(`DATABASE_URL leads to Postgres ${version}: ${OLDEST_POSTGRES} or newer is needed.`);
    return version;
  } catch (error) {
    throw unusable('DATABASE_URL', url, error);
  } finally {
    await client.end().catch(() => {});
  }
}

export async function checkRedis(url: string): Promise<string> {
  const client = producer(url);
  client.on('error', (error) => {
    lastError = error;
  });
  let lastError: Error | undefined;
  try {
    await withTimeout(client.connect(), CONNECT_MS);
    const masters = mastersOf(client);
    const versions = await Promise.all(masters.map(usableVersion));
    return masters.length === 1 ? versions[0]! : `${versions[0]}, a cluster of ${masters.length} masters`;
  } catch (error) {
    throw unusable('REDIS_URL', url, lastError ?? error);
  } finally {
    client.disconnect();
  }
}

async function usableVersion(master: RedisClient): Promise<string> {
  const version = /redis_version:(\d+)\.(\d+)\S*/.exec(await master.info('server'));
  if (version && !recentEnough(Number(version[1]), Number(version[2])))
    throw new Failure(`REDIS_URL leads to Redis ${version[0].slice(14)}: 6.2 or newer is needed.`);
  const policy = /maxmemory_policy:(\S+)/.exec(await master.info('memory'))?.[1];
  if (policy && policy !== 'noeviction')
    throw new Failure(
      `REDIS_URL leads to a Redis that may evict jobs: set its maxmemory-policy to noeviction, it is ${policy}.`,
    );
  return version?.[0].slice(14) ?? '';
}

function unusable(name: string, url: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  const reason = error instanceof Error ? ('code' in error && error.code) || error.message : String(error);
  const host =
    readRedisAddress(url)
      ?.hosts.map(({ host, port }) => `${host}:${port}`)
      .join(', ') ?? (postgresUrls(url) ?? [url]).map((one) => new URL(one).host).join(', ');
  return new Failure(
    `${name}: nothing usable answers at ${host} (${reason}). Start it, mend the address, or leave ${name} out.`,
  );
}
