import { ownerUrl } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import pg from 'pg';
import type { Test } from 'tap';
import type { Fixture } from './fixtures.ts';

// Further connections as the owner, whose transactions hold locks that others wait for.

export interface Session {
  pid: number;
  query: <R>(text: string, values?: unknown[]) => Promise<R[]>;
  end: () => Promise<void>;
}

export async function session(t: Test, { url }: Fixture): Promise<Session> {
  const client = new pg.Client({ connectionString: ownerUrl(url) });
  await client.connect();
  t.teardown(() => client.end());
  const query = async <R>(text: string, values?: unknown[]) => (await client.query(text, values)).rows as R[];
  const [self] = await query<{ pid: number }>('select pg_backend_pid() as pid');
  return { pid: self!.pid, query, end: () => client.end() };
}

export const waitsFor = (t: Test, { query }: Fixture, waiting: Session, others: readonly Session[]) =>
  eventually('it waits for a lock of one of the others', async () => {
    const [row] = await query<{ by: number[] }>('select pg_blocking_pids($1) as by', [waiting.pid]);
    return row!.by.some((pid) => others.some((other) => other.pid === pid));
  }).then(() => t.pass('it waits'));

export const isWaitedFor = (t: Test, { query }: Fixture, { pid }: Pick<Session, 'pid'>) =>
  eventually('another connection waits for a lock of this one', async () => {
    const [row] = await query<{ n: number }>(
      'select count(*)::int as n from pg_stat_activity where $1 = any(pg_blocking_pids(pid))',
      [pid],
    );
    return row!.n > 0;
  }).then(() => t.pass('it is waited for'));
