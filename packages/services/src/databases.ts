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

export async function createTemplate(serverUrl: string, migrate: (url: string) => Promise<unknown>): Promise<void> {
  await queryOnce(serverUrl, `create database ${TEMPLATE}`);
  await migrate(databaseOn(serverUrl, TEMPLATE));
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
