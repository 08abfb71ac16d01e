import { createHash } from 'node:crypto';
import pg from 'pg';
import { APP_ROLES, grantStatements, grantsName } from './grants.ts';
import { migrations } from './migrations/index.ts';
import type { Migration } from './migrations/migration.ts';

// Brings a database to the newest schema. Any number of processes may do it at once: one works under an advisory lock,
// the others wait and find nothing to do. A newer database is left alone, so that an older process starts mid-deploy.

const MIGRATION_LOCK = 7_205_759_403;

/** A step was applied with other tables than it has now: made by a version from before the first release. */
export class OtherSchema extends Error {
  override readonly name = 'OtherSchema';
  constructor(step: string) {
    super(`step ${step} of the database was made by another version, from before the first release`);
  }
}

/**
 * Applies what is missing and returns the names, oldest first; an empty list when the schema was up to date. The user of
 * `databaseUrl` owns what is made; roles of the apps that exist get what `grants.ts` lists.
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'eloquentpoll migrate',
    connectionTimeoutMillis: 10_000,
    statement_timeout: 300_000,
  });
  await client.connect();
  try {
    if ((await missing(client)).length === 0) return [];
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await client.query(`create table if not exists schema_migrations (
      name text primary key, tables_sha256 text, applied_at timestamptz not null default now())`);
    // A function of an early step may name columns of a later one: it is loaded with its present text.
    await client.query('set check_function_bodies = off');
    const steps = await missing(client);
    for (const step of steps) {
      await client.query('begin');
      await client.query(step.sql());
      const values = [step.name, tablesHash(step)];
      await client.query('insert into schema_migrations (name, tables_sha256) values ($1, $2)', values);
      await client.query('commit');
    }
    return steps.map((step) => step.name);
  } finally {
    // Ending the connection rolls back a step that failed and gives the lock back.
    await client.end();
  }
}

async function missing(client: pg.Client): Promise<Migration[]> {
  const grants = await grantsOf(client);
  const { rows: tables } = await client.query("select 1 where to_regclass('schema_migrations') is not null");
  if (tables.length === 0) return [...migrations, ...grants];
  const { rows } = await client.query<{ name: string; hash: string | null }>(
    "select name, to_jsonb(m)->>'tables_sha256' as hash from schema_migrations m order by name",
  );
  const steps = rows.filter(({ name }) => /^\d/.test(name));
  const other = steps.find(({ name, hash }) => isOther(name, hash));
  if (other) throw new OtherSchema(other.name);
  const applied = new Set(rows.map((row) => row.name));
  const known = new Set(migrations.map((step) => step.name));
  const isNewer = steps.some(({ name }) => !known.has(name));
  return [...migrations, ...(isNewer ? [] : grants)].filter((step) => !applied.has(step.name));
}

/** The last step, as long as a role of the apps exists. */
async function grantsOf(client: pg.Client): Promise<Migration[]> {
  const { rows } = await client.query<{ rolname: string }>(
    'select rolname from pg_roles where rolname = any($1) order by rolname',
    [APP_ROLES],
  );
  if (rows.length === 0) return [];
  const statements = grantStatements(rows.map(({ rolname }) => rolname));
  return [{ name: grantsName(statements), sql: () => statements }];
}

/** An unknown step after the last one is of a newer release. */
function isOther(name: string, hash: string | null): boolean {
  const step = migrations.find((one) => one.name === name);
  return step ? tablesHash(step) !== hash : name < migrations.at(-1)!.name;
}

/** Of a step without comments and functions: those are loaded with their present text, and a later step may change them. */
function tablesHash(step: Migration): string {
  const tables = step
    .sql()
    .replaceAll(/create or replace function[^$]*\$\$[\s\S]*?\$\$[^;]*;/g, '')
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\s+/g, ' ');
  return createHash('sha256').update(tables).digest('hex');
}
