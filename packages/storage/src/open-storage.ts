import { createHash } from 'node:crypto';
import {
  Kysely,
  type PostgresCursor,
  PostgresDialect,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely';
import pg from 'pg';
import { StorageUnavailable, toStorageError } from './errors.ts';
import type { Tables } from './tables/index.ts';

// Owns the connections. Every wait has an end (connect, lock, statement, idle transaction, and a client-side limit for
// a server that stopped answering); the pool is bounded; int8 arrives as bigint; every error leaves as one of
// errors.ts. Statements are prepared once per connection under a name made from their text.

/** Whatever can run queries: the storage itself or a transaction in it. */
export interface Queries {
  readonly db: Kysely<Tables>;
}

export interface Storage extends Queries, AsyncDisposable {
  readonly pool: Pick<pg.Pool, 'totalCount' | 'idleCount' | 'waitingCount'>;
}

export interface StorageOptions {
  databaseUrl: string;
  maxConnections?: number;
  applicationName?: string;
  /** How long to wait for a free connection before answering that storage is unavailable. */
  connectTimeoutMs?: number;
  statementTimeoutMs?: number;
  lockTimeoutMs?: number;
  /** Hears how long each piece of work waited for its connection. */
  onConnection?: (waitedMs: number) => void;
}

export function openStorage(options: StorageOptions): Storage {
  const statementTimeoutMs = options.statementTimeoutMs ?? 5_000;
  const pool = new pg.Pool({
    connectionString: options.databaseUrl,
    application_name: options.applicationName ?? 'eloquentpoll',
    max: options.maxConnections ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 1_000,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + 2_000,
    lock_timeout: options.lockTimeoutMs ?? 2_000,
    idle_in_transaction_session_timeout: 10_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    types: { getTypeParser },
  });
  // An idle connection that breaks is replaced when the next query asks; without a listener it would end the process.
  pool.on('error', () => {});
  // pg emits `error` on a client that breaks between connect and checkout; without a listener the process would crash.
  pool.on('connect', (client) => client.on('error', () => {}));
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({
      pool: { options: pool.options, connect: () => connect(pool, options.onConnection), end: () => pool.end() },
    }),
  });
  // Kysely ends the pool only when it was used; both ways must end it exactly once.
  const close = async () => {
    await db.destroy();
    if (!pool.ended) await pool.end();
  };
  let closing: Promise<void> | undefined;
  return {
    db,
    pool,
    [Symbol.asyncDispose]: () => {
      closing ??= close();
      return closing;
    },
  };
}

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

async function connect(pool: pg.Pool, heard?: (waitedMs: number) => void): Promise<PostgresPoolClient> {
  const began = heard ? performance.now() : 0;
  let client: pg.PoolClient;
  try {
    client = await pool.connect();
  } catch (error) {
    throw toStorageError(error);
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
    return client.query({ ...statementName(text), text, values: [...values] }).then(
      (result) => result as PostgresQueryResult<R>,
      (error: unknown) => {
        const storageError = toStorageError(error);
        broken ||= storageError instanceof StorageUnavailable;
        throw storageError;
      },
    );
  }
  const release = (destroy?: boolean) => {
    client.release(destroy === true || broken);
    client.removeListener('error', onError);
  };
  return { query, release };
}

// Texts are few because values are always parameters; the bound protects a server from a caller who forgets that.
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
