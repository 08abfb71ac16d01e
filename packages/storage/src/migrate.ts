import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { primaryUrl } from './find-primary.ts';
import { APP_ROLES, grantStatements, grantsName } from './grants.ts';
import { type MigratingSession, waitForTurn } from './migration-turn.ts';
import { functionsStep } from './migrations/functions.ts';
import { migrations } from './migrations/index.ts';
import type { Migration } from './migrations/migration.ts';
import { tablesHash } from './migrations/tables-hash.ts';

// Brings a database to the newest schema. Any number of processes may do so at once: one works under an advisory lock,
// the others wait and find nothing to do. A newer schema is left alone, so older processes can start during a deploy.

/** A step was applied with different tables than it has in this code: by a version from before the first release. */
export class OtherSchema extends Error {
  override readonly name = 'OtherSchema';
  constructor(step: string) {
    super(`step ${step} of the database was made by another version, from before the first release`);
  }
}

interface MigrateOptions {
  without?: readonly string[];
  waitMs?: number;
  /** Must exist, because the migration grants them what they need. */
  roles?: readonly string[];
  say?: (progress: MigrationProgress) => void;
}

/** Either may take hours: another process migrates, or this one begins a step. */
export type MigrationProgress = { kind: 'waiting'; holder: MigratingSession } | { kind: 'applying'; step: string };

/**
 * Applies missing steps and returns their names, oldest first; an empty list if the schema was up to date. The user of
 * `databaseUrl` owns the created objects; existing roles of the apps get the rights in `grants.ts`.
 */
export async function migrate(
  databaseUrl: string,
  { without = [], waitMs = MAX_WAIT_MS, roles = [], say = () => {} }: MigrateOptions = {},
): Promise<string[]> {
  const client = new pg.Client({
    connectionString: await primaryUrl(databaseUrl),
    application_name: 'eloquentpoll migrate',
    connectionTimeoutMillis: 10_000,
  });
  await client.connect();
  try {
    await requireRoles(client, roles);
    if ((await missing(client)).length === 0) return [];
    // Online steps may take hours; the server's limits are meant for the service's statements.
    await client.query('set statement_timeout = 0; set lock_timeout = 0');
    await waitForTurn(client, (holder) => say({ kind: 'waiting', holder }));
    await client.query(`create table if not exists schema_migrations (
      name text primary key, tables_sha256 text, applied_at timestamptz not null default now())`);
    // A function loaded by an early step has its newest text, which may name columns that a later step adds.
    await client.query('set check_function_bodies = off');
    const steps = (await missing(client)).filter(
      ({ name }) => !without.includes(name) && (without.length === 0 || /^\d/.test(name)),
    );
    for (const step of steps) {
      say({ kind: 'applying', step: step.name });
      await apply(client, step, waitMs);
    }
    return steps.map((step) => step.name);
  } finally {
    // Ending the connection rolls back a failed step and releases the lock.
    await client.end();
  }
}

/** Without them the schema would count as migrated, and nothing would grant them anything when they are created. */
async function requireRoles(client: pg.Client, roles: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    'select name from unnest($1::text[]) as name where name not in (select rolname from pg_roles)',
    [roles],
  );
  if (rows.length > 0) throw new Error(`these roles do not exist yet: ${rows.map(({ name }) => name).join(', ')}`);
}

async function apply(client: pg.Client, step: Migration, waitMs: number): Promise<void> {
  for (const { sql, isOnline, forEach } of step.prepare?.() ?? []) {
    for (const text of forEach ? await textsFor(client, sql, forEach) : [sql]) {
      if (isOnline) await client.query(text);
      else await underShortLocks(client, waitMs, () => client.query(text));
    }
  }
  const values = [step.name, tablesHash(step)];
  await underShortLocks(client, waitMs, async () => {
    await client.query(step.sql());
    await client.query('insert into schema_migrations (name, tables_sha256) values ($1, $2)', values);
  });
}

async function textsFor(client: pg.Client, sql: string, names: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(names);
  return rows.map(({ name }) => sql.replaceAll('%I', name));
}

/** While a statement waits for a lock, all later statements wait behind it: give up after this time and try again. */
const LOCK_MS = 250;
/** One attempt of so many waits for autovacuum to give way; the first is the tenth, since most locks are soon free. */
const PER_LONG_ATTEMPT = 20;
const STATEMENT_MS = 300_000;
const MAX_WAIT_MS = 600_000;
const LOCK_NOT_FREE = new Set(['55P03', '40P01']);

/** In one transaction, repeated until the locks are free; after `waitMs` it throws the last lock failure. */
async function underShortLocks(client: pg.Client, waitMs: number, work: () => Promise<unknown>): Promise<void> {
  const until = performance.now() + waitMs;
  for (let attempt = 1; ; attempt++) {
    const isLong = attempt % PER_LONG_ATTEMPT === 10;
    const lockMs = (isLong ? await pastVacuumMs(client) : null) ?? LOCK_MS;
    try {
      await client.query(`begin; set local lock_timeout = ${lockMs}; set local statement_timeout = ${STATEMENT_MS}`);
      await work();
      await client.query('commit');
      return;
    } catch (error) {
      await client.query('rollback');
      if (!(error instanceof pg.DatabaseError && LOCK_NOT_FREE.has(error.code ?? '')) || performance.now() > until)
        throw error;
      await wait(LOCK_MS * (1 + Math.random()));
    }
  }
}

/**
 * Autovacuum gives a table up for a statement that has waited for `deadlock_timeout`, and for no other: how long to wait
 * for that. Null if no table is being vacuumed.
 */
async function pastVacuumMs(client: pg.Client): Promise<number | null> {
  const { rows } = await client.query<{ ms: number }>(
    `select (extract(epoch from current_setting('deadlock_timeout')::interval) * 1000)::float8 as ms
      where exists (select from pg_locks
                     where locktype = 'relation' and mode = 'ShareUpdateExclusiveLock' and granted
                       and database = (select oid from pg_database where datname = current_database())
                       and pid <> pg_backend_pid())`,
  );
  return rows[0] ? Math.ceil(rows[0].ms) + LOCK_MS : null;
}

/** Functions and grants come last, because they name what the steps create. A newer release has loaded its own. */
async function missing(client: pg.Client): Promise<Migration[]> {
  const functions = functionsStep();
  const last = [functions, ...(await grantsOf(client, functions.name))];
  const { rows: tables } = await client.query("select 1 where to_regclass('schema_migrations') is not null");
  if (tables.length === 0) return [...migrations, ...last];
  const { rows } = await client.query<{ name: string; hash: string | null }>(
    "select name, to_jsonb(m)->>'tables_sha256' as hash from schema_migrations m order by name",
  );
  const steps = rows.filter(({ name }) => /^\d/.test(name));
  const other = steps.find(({ name, hash }) => isOther(name, hash));
  if (other) throw new OtherSchema(other.name);
  const applied = new Set(rows.map((row) => row.name));
  const known = new Set(migrations.map((step) => step.name));
  const isNewer = steps.some(({ name }) => !known.has(name));
  return [...migrations, ...(isNewer ? [] : last)].filter((step) => !applied.has(step.name));
}

/** Only if a role of the apps exists. Repeated after functions were loaded, because some may have been recreated. */
async function grantsOf(client: pg.Client, functions: string): Promise<Migration[]> {
  const { rows } = await client.query<{ rolname: string }>(
    'select rolname from pg_roles where rolname = any($1) order by rolname',
    [APP_ROLES],
  );
  if (rows.length === 0) return [];
  const statements = grantStatements(rows.map(({ rolname }) => rolname));
  return [{ name: grantsName(statements, functions), sql: () => statements }];
}

/** An unknown step after our last one belongs to a newer release. */
function isOther(name: string, hash: string | null): boolean {
  const step = migrations.find((one) => one.name === name);
  return step ? tablesHash(step) !== hash : name < migrations.at(-1)!.name;
}
