import { ownerUrl, testDatabase } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import pg from 'pg';
import t from 'tap';
import { pooledConnections } from '../src/faults/watch-pooler.ts';

t.test(
  'connections that a killed pooler left are none of the next one, however long Postgres keeps them',
  async (t) => {
    const connectionString = ownerUrl(await testDatabase(t));
    const watcher = new pg.Client({ connectionString });
    await watcher.connect();
    t.teardown(() => watcher.end());
    const query = async <Row extends object>(sql: string, values: readonly unknown[] = []) =>
      (await watcher.query<Row>(sql, [...values])).rows;
    const connect = async () => {
      const client = new pg.Client({ connectionString, application_name: 'eloquentpoll-worker' });
      await client.connect();
      t.teardown(() => client.end());
    };
    await connect();
    await connect();
    const first = Date.now() - 60_000;
    t.equal(await pooledConnections(query, first), 2);
    const second = await eventually('the next millisecond', async () => {
      const [row] = await query<{ later: boolean }>(
        `select max(backend_start) < to_timestamp($1) as later from pg_stat_activity where application_name like 'eloquentpoll-%'`,
        [Date.now() / 1_000],
      );
      return row!.later && Date.now();
    });
    await connect();
    t.equal(await pooledConnections(query, second), 1);
    t.equal(await pooledConnections(query, first), 3);
  },
);
