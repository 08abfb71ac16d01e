import { createHash } from 'node:crypto';
import {
  Kysely,
  type PostgresCursor,
  PostgresDialect,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely';
import pg from 'pg';
import { askingAgain } from './connect-again.ts';
import { notConnected, StorageUnavailable, toStorageError } from './errors.ts';
import { type PrimaryFinder, primaryFinder, TIMELINE, timelineIn } from './find-primary.ts';
import type { Tables } from './tables/index.ts';

// Owns the connections. Every wait has a time limit (connect, lock, statement, idle transaction, and one in the client
// for a server that stops answering), even if a pooler drops the settings of a connection. The pool is bounded; int8
// becomes bigint; all errors are those of errors.ts. Statements are prepared under a name derived from their text.

/** Anything that can run queries: the storage itself or a transaction in it. */
export interface Queries {
  readonly db: Kysely<Tables>;
}

export interface Storage extends Queries, AsyncDisposable {
  /** Runs a single statement without Kysely's overhead, for statements that every poll needs. */
  call<Row>(text: string, values: readonly unknown[]): Promise<Row[]>;
  readonly pool: Pick<pg.Pool, 'totalCount' | 'idleCount' | 'waitingCount'>;
}

export interface StorageOptions {
  databaseUrl: string;
  maxConnections?: number;
  applicationName?: string;
  /** How long one attempt to get a connection may wait for a free or new one. */
  connectTimeoutMs?: number;
  /** How long to keep starting attempts after a connection could not be had; 0 for one attempt. */
  askAgainForMs?: number;
  statementTimeoutMs?: number;
  lockTimeoutMs?: number;
  /** Called with the time that each piece of work waited for its connection. */
  onConnection?: (waitedMs: number) => void;
  /** Called once if the server has no time limit for single statements: see `roleTimeouts`. */
  onUnlimited?: () => void;
  /** Called at most once a minute if the only server that accepts writes has an older timeline than the primary had. */
  onOlderPrimary?: () => void;
}

export function openStorage(options: StorageOptions): Storage {
  const timeouts: Timeouts = {
    statement_timeout: options.statementTimeoutMs ?? 5_000,
    lock_timeout: options.lockTimeoutMs ?? 2_000,
    idle_in_transaction_session_timeout: 10_000,
  };
  let saysUnlimited = options.onUnlimited;
  const onUnlimited = () => {
    saysUnlimited?.();
    saysUnlimited = undefined;
  };
  const primary = primaryFinder(options.databaseUrl, options.onOlderPrimary);
  // The pool awaits the returned promise, although its type does not show that.
  const inspected = (client: pg.ClientBase): Promise<void> => inspect(client, { timeouts, onUnlimited, primary });
  const pool = new pg.Pool({
    connectionString: primary?.url ?? options.databaseUrl,
    application_name: options.applicationName ?? 'eloquentpoll',
    max: options.maxConnections ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 1_000,
    ...timeouts,
    query_timeout: timeouts.statement_timeout + 2_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    types: { getTypeParser },
    onConnect: inspected as (client: pg.ClientBase) => void,
  });
  // An idle connection that breaks is replaced at the next query; without a listener its error would end the process.
  pool.on('error', () => {});
  // pg emits `error` on a client that breaks between connect and checkout; without a listener the process would crash.
  pool.on('connect', (client) => client.on('error', () => {}));
  const again = askingAgain({
    forMs: options.askAgainForMs ?? ASK_AGAIN_MS,
    mayPass: (error) => !pool.ending && !isMisconfigured(error),
  });
  const takeConnection = () => connect(() => again(() => checkOut(pool, primary)), primary, options.onConnection);
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({
      pool: {
        options: pool.options,
        connect: takeConnection,
        end: () => pool.end(),
      },
    }),
  });
  // Kysely ends the pool only if it was used; in both cases the pool must be ended exactly once.
  const close = async () => {
    primary?.[Symbol.dispose]();
    await db.destroy();
    if (!pool.ended) await pool.end();
  };
  let closing: Promise<void> | undefined;
  return {
    db,
    pool,
    async call<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
      const connection = await takeConnection();
      try {
        return (await connection.query<Row>(text, values)).rows;
      } finally {
        connection.release();
      }
    },
    [Symbol.asyncDispose]: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** Together with the attempt in progress, this turns an outage of two seconds into a slow answer. */
const ASK_AGAIN_MS = 1_500;

/** The server rejects the user, password or database. */
const isMisconfigured = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && /^(28|3D)/.test(error.code ?? '');

const INT8 = 20;
const DATE = 1082;

function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === INT8) return BigInt;
  // A calendar day is not a point in time: keep it as YYYY-MM-DD.
  if (oid === DATE) return String;
  return (format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text')) as (
    value: string,
  ) => unknown;
}

/**
 * A server that refuses connections may no longer be the primary: the pool then continues with the present one. Idle
 * connections to the earlier primary are closed.
 */
async function checkOut(pool: pg.Pool, primary: PrimaryFinder | null): Promise<pg.PoolClient> {
  if (!primary) return pool.connect();
  await primary.found;
  for (let outdated = 0; outdated <= pool.options.max; outdated++) {
    const client = await connectTo(pool, primary);
    if (primary.isServing(client)) return client;
    client.release(true);
  }
  throw new StorageUnavailable('the primary of the database is changing');
}

async function connectTo(pool: pg.Pool, primary: PrimaryFinder): Promise<pg.PoolClient> {
  const tried = primary.url;
  pool.options.connectionString = tried;
  try {
    return await pool.connect();
  } catch (error) {
    if (!(await primary.movedFrom(tried))) throw error;
    pool.options.connectionString = primary.url;
    return await pool.connect();
  }
}

async function connect(
  take: () => Promise<pg.PoolClient>,
  primary: PrimaryFinder | null,
  heard?: (waitedMs: number) => void,
): Promise<PostgresPoolClient> {
  const began = heard ? performance.now() : 0;
  let client: pg.PoolClient;
  try {
    client = await take();
  } catch (error) {
    throw notConnected(error);
  }
  heard?.(performance.now() - began);
  // After a shutdown notice, a read-only error or an unanswered statement, a connection is not used again: a new
  // connection may reach the new primary.
  let broken = false;
  // Between two statements of a transaction nothing awaits the connection, so its end arrives only as an event.
  const onError = () => {
    broken = true;
  };
  client.on('error', onError);
  function query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  function query<R>(
    text: string | PostgresCursor<R>,
    values: readonly unknown[] = [],
  ): PostgresCursor<R> | Promise<PostgresQueryResult<R>> {
    if (typeof text !== 'string') throw new TypeError('cursors are not used here');
    return client.query({ ...statementName(text), text: begun(client, text), values: [...values] }).then(
      (result) => result as PostgresQueryResult<R>,
      (error: unknown) => {
        const storageError = toStorageError(error);
        broken ||= storageError instanceof StorageUnavailable;
        throw storageError;
      },
    );
  }
  const release = (destroy?: boolean) => {
    client.release(destroy === true || broken || primary?.isServing(client) === false);
    client.removeListener('error', onError);
  };
  return { query, release };
}

interface Timeouts {
  statement_timeout: number;
  lock_timeout: number;
  idle_in_transaction_session_timeout: number;
}

/** The statements that begin a transaction on connections through a pooler. */
const beginnings = new WeakMap<pg.ClientBase, string>();

/** A pooler in transaction mode drops our settings. Then each transaction sets them; role settings cover the rest. */
async function inspect(
  client: pg.ClientBase,
  asked: { timeouts: Timeouts; onUnlimited: () => void; primary: PrimaryFinder | null },
): Promise<void> {
  const { timeouts, onUnlimited, primary } = asked;
  const { rows } = await client.query<{ ms: number; wal_file: string | null }>(
    `select (extract(epoch from current_setting('statement_timeout')::interval) * 1000)::float8 as ms,
            ${primary ? TIMELINE : 'null'} as wal_file`,
  );
  const { ms, wal_file } = rows[0]!;
  if (primary) {
    const timeline = timelineIn(wal_file);
    if (timeline === null) throw new StorageUnavailable('the database is a standby');
    if (!primary.connected(client, timeline)) throw new StorageUnavailable('the database was passed over by another');
  }
  if (ms === timeouts.statement_timeout) return;
  const settings = Object.entries(timeouts).map(([name, value]) => `set local ${name} = ${value}`);
  beginnings.set(client, ['begin', ...settings].join('; '));
  if (ms === 0) onUnlimited();
}

const begun = (client: pg.ClientBase, text: string): string =>
  text === 'begin' ? (beginnings.get(client) ?? text) : text;

// There are few texts, because values are always parameters; the limit protects the server if a caller forgets that. A
// text that begins with a comment gets no name, so it is planned for its values each time.
const names = new Map<string, string>();
const MAX_NAMES = 500;

function statementName(text: string): { name?: string } {
  if (!/^\s*(select|insert|update|delete|with)\b/i.test(text)) return {};
  let name = names.get(text);
  if (name === undefined && names.size < MAX_NAMES) {
    name = createHash('sha256').update(text).digest('base64url').slice(0, 22);
    names.set(text, name);
  }
  return name === undefined ? {} : { name };
}
