import { randomBytes } from 'node:crypto';
import { type Bus, openBus } from '@eloquentpoll/bus';
import { migrate, openStorage, type Storage } from '@eloquentpoll/storage';
import pg from 'pg';

// Stores for one experiment on servers that may hold other things: a database of its own that is dropped at the end, and
// a corner of Redis whose keys are removed. The clients here are our own, not those of the processes under test.

export interface Stores extends AsyncDisposable {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly redisPrefix: string;
  readonly storage: Storage;
  readonly bus: Bus;
  /** For what only an experiment asks. */
  query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

export async function throwAwayStores(serverUrl: string, redisUrl: string): Promise<Stores> {
  await using made = new AsyncDisposableStack();
  const name = `ep_lab_${randomBytes(6).toString('hex')}`;
  await onServer(serverUrl, `create database ${name}`);
  made.defer(() => onServer(serverUrl, `drop database if exists ${name} with (force)`));
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await migrate(url.href);

  const redisPrefix = `lab${randomBytes(6).toString('hex')}`;
  const bus = made.use(await openBus({ redisUrl, prefix: redisPrefix }));
  made.defer(() => removeKeys(bus, redisPrefix));
  const storage = made.use(
    openStorage({ databaseUrl: url.href, maxConnections: 8, connectTimeoutMs: 5_000, statementTimeoutMs: 60_000 }),
  );
  const pool = new pg.Pool({ connectionString: url.href, max: 4, connectionTimeoutMillis: 10_000 });
  pool.on('error', () => {});
  made.defer(() => pool.end());

  const kept = made.move();
  return {
    databaseUrl: url.href,
    redisUrl,
    redisPrefix,
    storage,
    bus,
    query: async <Row extends object>(sql: string, values: readonly unknown[] = []) =>
      (await pool.query<Row>(sql, [...values])).rows,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function onServer(serverUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

async function removeKeys({ redis }: Bus, prefix: string): Promise<void> {
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', `*${prefix}*`, 'COUNT', 1_000);
    cursor = next;
    if (keys.length > 0) await redis.unlink(...keys);
  } while (cursor !== '0');
}
