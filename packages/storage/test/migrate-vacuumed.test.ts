import { databaseOn, queryOnce } from '@eloquentpoll/services/databases';
import { startPostgres } from '@eloquentpoll/services/postgres';
import { openThrowAwayGroup } from '@eloquentpoll/services/throw-away-group';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { migrate } from '../src/index.ts';

// slow: 8 s

// A server of its own, because autovacuum is set for all databases of a server.

const LAST = ['0035-audit-draws', '0036-late-polls'];

t.test('a migration does not wait for autovacuum to come to the end of a table', async (t) => {
  const group = await openThrowAwayGroup('a vacuum', { neededMb: 300, inMemory: true });
  t.teardown(() => group[Symbol.asyncDispose]());
  const server = await startPostgres({
    ...{ group, password: 'secret', durable: false, stage: 1 },
    settings: { autovacuum: 'on', autovacuum_naptime: '1s', deadlock_timeout: '500ms' },
  });
  await queryOnce(server.url, 'create database ep');
  const url = databaseOn(server.url, 'ep');
  await migrate(url, { without: LAST });
  // It would take minutes: autovacuum waits after each of a thousand pages.
  await queryOnce(
    url,
    `alter table audit_jobs set (autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0,
       autovacuum_vacuum_insert_threshold = 1, autovacuum_vacuum_insert_scale_factor = 0,
       autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1)`,
  );
  await queryOnce(
    url,
    `insert into roster_versions (version, panel_name, asking_order, search, simulated, models, families)
     values ('v', 'broad', 'shuffled', false, true, '{}', '{}')`,
  );
  await queryOnce(
    url,
    `insert into audit_jobs (poll_id, roster_version, heard, max_u)
     select n, 'v', jsonb_build_object('text', repeat(md5(n::text), 50)), 1 from generate_series(1, 5000) n`,
  );
  await eventually('the table is being vacuumed', async () => {
    const rows = await queryOnce(
      url,
      "select from pg_stat_progress_vacuum where relid = 'audit_jobs'::regclass and heap_blks_scanned > 0",
    );
    return rows.length > 0;
  });
  t.match(await migrate(url, { waitMs: 20_000 }), LAST);
});
