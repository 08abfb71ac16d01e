import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** The database that every test clones: empty and at the newest schema. */
export const TEMPLATE = 'template_eloquentpoll';

export interface OwnDatabase extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
}

/** A database for one test or experiment on a server that may hold others; dropped when it is disposed. */
export async function createDatabase(
  serverUrl: string,
  { prefix, template }: { prefix: string; template?: string },
): Promise<OwnDatabase> {
  const name = `${prefix}_${randomBytes(8).toString('hex')}`;
  // Copied files instead of copied pages in the log: less than half the time, for databases that are not kept.
  const origin = template ? ` template ${template} strategy file_copy` : '';
  await queryOnce(serverUrl, `create database ${name}${origin}`);
  return {
    name,
    url: databaseOn(serverUrl, name),
    [Symbol.asyncDispose]: async () =>
      void (await queryOnce(serverUrl, `drop database if exists ${name} with (force)`)),
  };
}

/** Works with what all of the apps' roles may do together: tests play gateway and worker in one process. */
export const TEST_ROLE = 'eloquentpoll_test';

/** The roles can log in with the password of `serverUrl`, and own nothing. */
export async function createTemplate(
  serverUrl: string,
  { roles, migrate }: { roles: readonly string[]; migrate(url: string): Promise<unknown> },
): Promise<void> {
  for (const role of roles) await createRole(serverUrl, role);
  await createRole(serverUrl, TEST_ROLE, roles);
  await queryOnce(serverUrl, `create database ${TEMPLATE}`);
  await migrate(databaseOn(serverUrl, TEMPLATE));
}

/** A role that can log in with the password of `serverUrl`; nothing happens when it exists. */
export async function createRole(serverUrl: string, role: string, memberOf: readonly string[] = []): Promise<void> {
  const known = await queryOnce(serverUrl, `select from pg_roles where rolname = '${role}'`);
  if (known.length > 0) return;
  const password = decodeURIComponent(new URL(serverUrl).password);
  const groups = memberOf.length > 0 ? ` in role ${memberOf.join(', ')}` : '';
  await queryOnce(serverUrl, `create role ${role} login password ${pg.escapeLiteral(password)}${groups}`);
}

/** The same database for another role with the same password. */
export function asRole(url: string, role: string): string {
  const changed = new URL(url);
  changed.username = role;
  return changed.href;
}

export function databaseOn(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** One statement over a connection of its own. */
export async function queryOnce<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000, query_timeout: 60_000 });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}
