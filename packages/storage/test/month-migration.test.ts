import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { requireEnv } from '@eloquentpoll/testkit/require-env';
import pg from 'pg';
import t, { type Test } from 'tap';
import {
  acceptPoll,
  checkLedger,
  claimPoll,
  finishPoll,
  migrate,
  openStorage,
  renewLeases,
  type Storage,
} from '../src/index.ts';
import { acceptance, finished, funded, GENEROUS, newPoll, response, spec, USD } from './fixtures.ts';
import { wholeCheck } from './whole-check.ts';

// slow: 8 s
// How a database becomes one by month while the release before it serves: with the statements of that release.

const STEPS = ['0017-months', '0017-months-ahead'];
/** Callers wait so long for a lock at most: that of one attempt, and what the exchange itself takes on a usual machine. */
const MAX_LOCKED_MS = 1_000;

async function oldDatabase(t: Test) {
  const server = requireEnv('TEST_DATABASE_URL');
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  const name = `t_${randomBytes(8).toString('hex')}`;
  const role = `old_${name}`;
  await admin.query(`create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const pool = new pg.Pool({ connectionString: url.href, max: 12 });
  pool.on('error', () => {});
  await migrate(url.href, { without: STEPS });
  await pool.query(`create role ${role}; grant select, update (lease_until) on polls to ${role}`);
  const storage = openStorage({ databaseUrl: url.href, maxConnections: 6, ...GENEROUS });
  t.teardown(async () => {
    await storage[Symbol.asyncDispose]();
    await pool.end();
    await admin.query(`drop database ${name} with (force)`);
    await admin.query(`drop role ${role}`);
    await admin.end();
  });
  const accountId = await funded(storage, 1_000n * USD);
  return { url: url.href, pool, role, storage, accountId };
}

interface Old {
  url: string;
  pool: pg.Pool;
  role: string;
  storage: Storage;
  accountId: string;
}

/** Statements of the release before that name the tables, as its processes have prepared them. */
const OLD_STATEMENTS = [
  [
    'status',
    'select p.id, p.status, r.result_id from polls p left join results r on r.poll_id = p.id where p.id = any($1)',
  ],
  ['votes', 'select count(*) from votes where poll_id = any($1)'],
  [
    'list',
    'select id from polls where account_id = (select account_id from polls where id = ($1::text[])[1]) order by created_at desc, id desc limit 20',
  ],
  ['label', "select poll_id from poll_labels where poll_id = any($1) and label = label_of('env', 'prod')"],
  [
    'lapsed',
    "select id from polls where status = 'running' and lease_until < now() and id <> all($1) order by deadline_at limit 500",
  ],
  [
    'event',
    "with gone as (delete from webhook_events where data ->> 'session_id' = any($1) returning id) select count(*) from gone",
  ],
] as const;

/** One poll from accept to its end, and everything that reads it. */
async function live({ storage, pool, accountId }: Old): Promise<string> {
  const poll = newPoll(accountId, {
    tenant: accountId,
    metadata: { env: 'prod' },
    webhookUrl: 'https://hooks.example/x',
  });
  await acceptPoll(storage, acceptance(accountId, { poll, holdU: 1_000n }));
  const claim = await claimPoll(storage, poll.id, 'w');
  await renewLeases(storage, 'w', [claim!]);
  await finishPoll(storage, finished(claim!, { response: response({ poll_id: poll.resultId }) }));
  for (const [name, text] of OLD_STATEMENTS) {
    const { rows } = await pool.query({ name, text, values: [[poll.id]] });
    if (rows.length === 0 && name !== 'lapsed') throw new Error(`${name} of ${poll.id} found nothing`);
  }
  return poll.id;
}

async function msOf(pool: pg.Pool, statement: pg.QueryConfig): Promise<number> {
  const began = performance.now();
  await pool.query(statement);
  return performance.now() - began;
}

async function waitingExchanges(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query(
    `select from pg_locks where mode = 'AccessExclusiveLock' and not granted
        and database = (select oid from pg_database where datname = current_database())`,
  );
  return rows.length;
}

/** Files of a table and its indexes: the same ones afterwards if nothing was copied or built anew. */
const filesOf = async ({ pool }: Old, table: string): Promise<number[]> => {
  const { rows } = await pool.query<{ file: number }>(
    `select pg_relation_filenode($1)::integer as file union all
     select pg_relation_filenode(indexrelid)::integer from pg_index where indrelid = $1::regclass order by 1`,
    [table],
  );
  return rows.map(({ file }) => file);
};

t.test('polls are accepted, run and read by the release before while the tables become partitioned', async (t) => {
  const old = await oldDatabase(t);
  const { pool, url, accountId, storage } = old;
  // What the exchange itself takes on this machine, without rows and without others.
  const { url: empty } = await oldDatabase(t);
  const began = performance.now();
  await migrate(empty);
  const exchangeMs = performance.now() - began;
  // Enough rows that reading them all would be seen in the longest lock.
  await pool.query(
    `insert into polls (id, result_id, account_id, tenant, status, spec, entry_point, lease_until, deadline_at, finished_at)
     select 'ps_2a' || lpad(n::text, 22, '0'), 'EP-2026-03-01-' || n, $1, 'x', 'completed', $2, 'rest', now(), now(), now()
       from generate_series(1, 60000) n`,
    [accountId, spec],
  );
  const before = { polls: await filesOf(old, 'polls'), votes: await filesOf(old, 'votes') };
  const reader = await pool.connect();
  await reader.query('begin; select count(*) from votes');

  let going = true;
  let ended = 0;
  const slowest = { poll: 0, statement: 0 };
  const lives = Array.from({ length: 3 }, async () => {
    while (going) {
      const began = performance.now();
      await live(old);
      slowest.poll = Math.max(slowest.poll, performance.now() - began);
      ended++;
    }
  });
  const probe = (async () => {
    while (going) {
      // Beside each a statement that no lock holds up: a machine that stands still holds up both.
      const [locked, free] = await Promise.all([
        msOf(pool, { name: 'probe', text: 'select status from polls where id = $1', values: ['ps_2a'] }),
        msOf(pool, { name: 'control', text: 'select 1' }),
      ]);
      slowest.statement = Math.max(slowest.statement, locked - free);
      await wait(2);
    }
  })();
  let hasMigrated = false;
  const migration = migrate(url).finally(() => {
    hasMigrated = true;
  });
  migration.catch(() => {});
  await eventually('the exchange waits for the reader', async () => (await waitingExchanges(pool)) > 0, 60_000);
  const atLock = ended;
  while (ended < atLock + 20) await wait(10);
  t.notOk(hasMigrated, 'it waits for the reader, while polls go on');
  await reader.query('commit');
  reader.release();
  await migration;
  const atSwap = ended;
  while (ended < atSwap + 20) await wait(10);
  going = false;
  await Promise.all([...lives, probe]);

  t.comment(
    `${ended} polls; slowest statement ${Math.round(slowest.statement)} ms, slowest poll of ten statements ${Math.round(slowest.poll)} ms, exchange without rows ${Math.round(exchangeMs)} ms`,
  );
  t.ok(
    slowest.statement < Math.max(MAX_LOCKED_MS, 3 * exchangeMs),
    `a statement took ${slowest.statement} ms longer than one that needs no lock`,
  );
  const after = { polls: await filesOf(old, 'polls_first'), votes: await filesOf(old, 'votes_first') };
  t.same(after.votes, before.votes, 'no row was copied, and no index built');
  t.ok(before.polls.filter((file) => !after.polls.includes(file)).length === 1, 'but for that of result ids');
  t.equal((await pool.query('select count(*)::integer as n from polls')).rows[0].n, 60_000 + ended);
  t.same(
    (
      await pool.query(
        `select has_column_privilege($1, 'polls', 'lease_until', 'update') as may_update,
       has_column_privilege($1, 'polls', 'status', 'update') as may_end, has_table_privilege($1, 'polls_first', 'select') as may_go_past`,
        [old.role],
      )
    ).rows,
    [{ may_update: true, may_end: false, may_go_past: false }],
  );
  await pool.query("delete from polls where id < 'ps_2b'");
  t.same(await checkLedger(storage), []);
  t.same(await wholeCheck(storage), []);
});

t.test('what a lock or a fault breaks off goes on where it was', async (t) => {
  const old = await oldDatabase(t);
  const { pool, url } = old;
  await pool.query(`create unique index polls_result on polls (id);
    update pg_index set indisvalid = false where indexrelid = 'polls_result'::regclass`);
  const reader = await pool.connect();
  await reader.query('begin; select count(*) from results');
  await t.rejects(migrate(url, { waitMs: 400 }), { code: '55P03' });
  t.same(
    (await pool.query("select relkind from pg_class where relname in ('polls', 'results')")).rows,
    [{ relkind: 'r' }, { relkind: 'r' }],
    'the tables are what they were',
  );
  await live(old);
  await reader.query('commit');
  reader.release();
  t.match(await migrate(url), STEPS);
  await live(old);
  const { rows } = await pool.query("select pg_get_indexdef('polls_result'::regclass) as made");
  t.match(rows[0].made, /UNIQUE INDEX polls_result ON ONLY public.polls USING btree \(result_id, id\)/);
  t.same(
    (
      await pool.query(
        "select relname from pg_class where relname like '%by\\_month%' or relname like '%first\\_month%'",
      )
    ).rows,
    [],
  );
  t.same(await wholeCheck(old.storage), []);
});
