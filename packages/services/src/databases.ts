import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** The database that every test clones: empty and at the newest schema. */
export const TEMPLATE = 'template_eloquentpoll';

export interface OwnDatabase extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
}

/** Creates a database for one test or experiment on a server that may have others; it is dropped when disposed. */
export async function createDatabase(
  serverUrl: string,
  { prefix, template, owner }: { prefix: string; template?: string; owner?: string },
): Promise<OwnDatabase> {
  const name = `${prefix}_${randomBytes(8).toString('hex')}`;
  // Copies files instead of logging pages: less than half the time, which suits databases that are not kept.
  const origin = template ? ` template ${template} strategy file_copy` : '';
  await queryOnce(serverUrl, `create database ${name}${owner ? ` owner ${owner}` : ''}${origin}`);
  return {
    name,
    url: databaseOn(serverUrl, name),
    [Symbol.asyncDispose]: async () => {
      await queryInTurn(serverUrl, [waitUntilUnused(name), `drop database if exists ${name} with (force)`]);
    },
  };
}

/** An ended pool may keep connections for a moment; ending one by force would raise an error that nothing catches. */
const waitUntilUnused = (name: string): string => `do $$ begin
  for i in 1..10 loop
    exit when not exists (select from pg_stat_activity where datname = '${name}');
    perform pg_sleep(.05);
    perform pg_stat_clear_snapshot();
  end loop;
end $$`;

/** Has all rights of the apps' roles together: tests act as gateway and worker in one process. */
export const TEST_ROLE = 'eloquentpoll_test';

/** Creates the apps' roles, which log in with the password of `serverUrl` and own nothing. */
export async function createTemplate(
  serverUrl: string,
  { roles, migrate }: { roles: readonly string[]; migrate(url: string): Promise<unknown> },
): Promise<void> {
  for (const role of roles) await createRole(serverUrl, role);
  await createRole(serverUrl, TEST_ROLE, roles);
  await queryOnce(serverUrl, `create database ${TEMPLATE}`);
  await migrate(databaseOn(serverUrl, TEMPLATE));
}

/** The apps hold and capture within accept_poll and end_poll; tests of the ledger do so directly. */
export async function grantLedgerToTests(url: string): Promise<void> {
  await queryOnce(url, `grant execute on function ledger_hold, ledger_resolve to ${TEST_ROLE}`);
}

/** Creates a role that can log in with the password of `serverUrl`; does nothing if the role exists. */
export async function createRole(serverUrl: string, role: string, memberOf: readonly string[] = []): Promise<void> {
  const known = await queryOnce(serverUrl, `select from pg_roles where rolname = '${role}'`);
  if (known.length > 0) return;
  const password = decodeURIComponent(new URL(serverUrl).password);
  const groups = memberOf.length > 0 ? ` in role ${memberOf.join(', ')}` : '';
  await queryOnce(serverUrl, `create role ${role} login password ${pg.escapeLiteral(password)}${groups}`);
}

/** The URL of the same database for another role with the same password. */
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

/** Runs one statement on its own connection. */
export const queryOnce = <Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> =>
  queryInTurn<Row>(url, [sql]);

/** Runs statements one after another, each in its own transaction; returns the rows of the last one. */
async function queryInTurn<Row extends pg.QueryResultRow>(url: string, statements: readonly string[]): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000, query_timeout: 60_000 });
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const sql of statements) rows = (await client.query<Row>(sql)).rows;
    return rows;
  } finally {
    await client.end();
  }
}
