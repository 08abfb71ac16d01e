import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Test } from 'tap';
import { requireEnv } from './require-env.ts';

/** A database of its own for one test: a clone of the migrated template, dropped when the test ends. */
export async function testDatabase(t: Test): Promise<string> {
  const admin = requireEnv('TEST_DATABASE_URL');
  const template = requireEnv('TEST_TEMPLATE_DATABASE');
  const name = `t_${randomBytes(8).toString('hex')}`;
  await query(admin, `create database ${name} template ${template}`);
  t.teardown(() => query(admin, `drop database ${name} with (force)`));
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return url.href;
}

async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
