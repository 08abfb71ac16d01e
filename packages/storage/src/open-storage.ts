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

// Owns the connections. Every wait has an end (connect, lock, statement, idle transaction, and a client-side limit for
// a server that stopped answering), also where a pooler drops what a connection asks for; the pool is bounded; int8
// arrives as bigint; every error leaves as one of errors.ts. Statements are prepared under a name made from their text.

/** Whatever can run queries: the storage itself or a transaction in it. */
export interface Queries {
  readonly db: Kysely<Tables>;
}

export interface Storage extends Queries, AsyncDisposable {
  /** One statement by itself, without what Kysely costs: for those of each poll. */
  call<Row>(text: string, values: readonly unknown[]): Promise<Row[]>;
  readonly pool: Pick<pg.Pool, 'totalCount' | 'idleCount' | 'waitingCount'>;
}

export interface StorageOptions {
  databaseUrl: string;
  maxConnections?: number;
  applicationName?: string;
  /** How long one attempt to get a connection waits: for one that is free, or for a new one. */
  connectTimeoutMs?: number;
  /** For how long attempts are begun once there is no connection to be had; 0 for one attempt. */
  askAgainForMs?: number;
  statementTimeoutMs?: number;
  lockTimeoutMs?: number;
  /** Hears how long each piece of work waited for its connection. */
  onConnection?: (waitedMs: number) => void;
  /** Hears once of a server that ends no single statement by itself: see `roleTimeouts`. */
  onUnlimited?: () => void;
  /** Hears, once a minute at most, that of several servers only one takes writes that was passed over by a promotion. */
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
  // The pool waits for it, though its type does not say so.
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
  // An idle connection that breaks is replaced when the next query asks; without a listener it would end the process.
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
  // Kysely ends the pool only when it was used; both ways must end it exactly once.
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

/** With the attempt that is under way then, a hiccup of two seconds is a slow answer. */
const ASK_AGAIN_MS = 1_500;

/** A user, a password or a database that the server does not take. */
const isMisconfigured = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && /^(28|3D)/.test(error.code ?? '');

const INT8 = 20;
const DATE = 1082;

function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === INT8) return BigInt;
  // A calendar day is not a moment: keep it as YYYY-MM-DD.
  if (oid === DATE) return String;
  return (format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text')) as (
    value: string,
  ) => unknown;
}

/**
 * A server that cannot be connected to may not be the primary any more: the pool goes on with the one that is. Idle
 * connections to the one before are closed.
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
  // After a shutdown notice, a read-only error or an unanswered statement the connection is not reused: the next one may
  // reach the new primary.
  let broken = false;
  // Between two statements of a transaction nothing awaits the connection: its end arrives as an event.
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

/** What a transaction begins with on connections that lead through a pooler. */
const beginnings = new WeakMap<pg.ClientBase, string>();

/** A pooler in transaction mode drops what we ask for: then each transaction asks, and a role's settings end the rest. */
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

// Texts are few because values are always parameters; the bound protects a server from a caller who forgets that. A text that
// begins with a comment has no name: it is planned for its values each time.
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
