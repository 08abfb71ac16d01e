import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import t from 'tap';
import {
  beat,
  claimKey,
  createAccount,
  inTransaction,
  issueNonce,
  openStorage,
  pruneExpired,
  repeatDeletions,
  StorageUnavailable,
  unseenProcessorEvents,
  uptime,
  withSweepLock,
} from '../src/index.ts';
import { open, unique } from './fixtures.ts';
import { rowsReadBy } from './query-plan.ts';

t.test('one sweeps at a time; the lock is given back, also after a failure', async (t) => {
  const { storage, url } = await open(t);
  await using other = openStorage({ databaseUrl: url, connectTimeoutMs: 30_000 });
  const inside = await withSweepLock(storage, async () => {
    t.equal(await withSweepLock(other, async () => t.fail('two sweep')), false);
    t.equal(await withSweepLock(storage, async () => t.fail('two sweep')), false);
  });
  t.equal(inside, true);
  await t.rejects(
    withSweepLock(storage, () => Promise.reject(new Error('in the middle'))),
    { message: 'in the middle' },
  );
  let swept = false;
  t.equal(
    await withSweepLock(other, async () => {
      swept = true;
    }),
    true,
  );
  t.ok(swept);
});

t.test('a process that stops in the middle of a sweep loses the lock', async (t) => {
  const { storage, url } = await open(t);
  await using other = openStorage({ databaseUrl: url, connectTimeoutMs: 30_000 });
  const wake = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const stopped = withSweepLock(
    storage,
    () => {
      began.resolve();
      return wake.promise;
    },
    50,
  );
  await began.promise;
  let sweeps = 0;
  while (!(await withSweepLock(other, async () => void sweeps++)));
  t.equal(sweeps, 1);
  wake.resolve();
  await t.rejects(stopped, StorageUnavailable, 'and hears of it when it goes on');
});

t.test('expired rows, and only those, are pruned in bounded steps', async (t) => {
  const { storage, query } = await open(t);
  const key = () => ({ principal: 'p', entryPoint: 'o', key: unique(), fingerprint: 'f' });
  const accountId = await createAccount(storage);
  const fill = async () => {
    await claimKey(storage, key(), 1_000);
    await issueNonce(storage, {
      nonce: unique(),
      address: randomBytes(20),
      asker: randomBytes(8),
      purpose: null,
      message: () => 'm',
    });
    await query("insert into logins (account_id, expires_at) values ($1, now() + interval '1 day')", [accountId]);
  };
  for (let index = 0; index < 7; index++) await fill();
  for (const table of ['idempotency', 'nonces', 'logins']) await query(`update ${table} set expires_at = now()`);
  for (let index = 0; index < 2; index++) await fill();
  await beat(storage, 'gateway');
  await query("insert into heartbeats values ('gateway', now() - interval '33 days')");
  await query(
    "insert into deleted_runs values ('ps_old', now() - interval '61 minutes'), ('ps_new', now() + interval '1 day')",
  );
  t.equal(await pruneExpired(storage, 5), 17);
  t.equal(await pruneExpired(storage, 5), 6);
  t.equal(await pruneExpired(storage, 5), 0);
  for (const table of ['idempotency', 'nonces', 'logins'])
    t.same(await query(`select count(*)::int as n from ${table}`), [{ n: 2 }], table);
  t.same(await query('select poll_id from deleted_runs'), [{ poll_id: 'ps_new' }]);
});

t.test('what is kept for a time stays until that is over', async (t) => {
  const { storage, query } = await open(t);
  const payment = `insert into deposits (chain_id, asset, payer, nonce, pay_to, amount_u, valid_before, proof, state, closed_at)
    select 1, a, a, sha256('AGO'), a, 5, now(), '{}', 'failed', now() - interval 'AGO'
      from decode(repeat('00', 20), 'hex') a`;
  const utcDay = "(now() at time zone 'utc')::date - interval 'AGO'";
  const KEPT = [
    ['heartbeats', "insert into heartbeats values ('gateway', now() - interval 'AGO')", '31 days', '33 days'],
    // The processor lists an event for thirty days: without the row it would be dealt with again.
    [
      'processor_events',
      "insert into processor_events values ('AGO', 'charge.refunded', now() - interval 'AGO')",
      '30 days 12 hours',
      '32 days',
    ],
    ['caller_days', `insert into caller_days (caller, day) values ('c', ${utcDay})`, '90 days', '91 days'],
    [
      'canary_results',
      `insert into canary_results (model_id, kind, returns, day) values ('m', 'known', 0, ${utcDay})`,
      '30 days',
      '31 days',
    ],
    ['deposits', payment, '89 days', '91 days'],
    ['deleted_runs', "insert into deleted_runs values ('ps_AGO', now() - interval 'AGO')", '59 minutes', '61 minutes'],
  ] as const;
  for (const [table, insert, within, after] of KEPT) {
    for (const ago of [within, after]) await query(insert.replaceAll('AGO', ago));
    t.match(await query(`select count(*)::int as n from ${table}`), [{ n: 2 }], table);
  }
  t.equal(await pruneExpired(storage), KEPT.length);
  for (const [table] of KEPT) t.match(await query(`select count(*)::int as n from ${table}`), [{ n: 1 }], table);
  t.equal(await pruneExpired(storage), 0);
});

t.test('a step of pruning reads no more than it deletes, also when statistics are of an empty table', async (t) => {
  const { storage, query } = await open(t);
  await query('vacuum analyze nonces');
  await query(`insert into nonces (nonce, address, message, expires_at)
    select n::text, substr(sha256(''), 1, 20), 'm', now() from generate_series(1, 30000) n`);
  const read = await inTransaction(storage, (tx) =>
    rowsReadBy(tx, 'nonces', async () => t.equal(await pruneExpired(tx, 2_000), 2_000)),
  );
  t.ok(read <= 2 * 2_000, `${read} rows were read, each to choose it and to delete it`);
});

t.test('uptime is the share of minutes that were recorded, and unknown before that', async (t) => {
  const { storage } = await open(t);
  // In one transaction, so that the minute does not turn in between.
  await inTransaction(storage, async (tx) => {
    t.equal(await uptime(tx, 'worker'), null);
    await beat(tx, 'worker');
    await beat(tx, 'worker');
    const { rows } = await sql`select count(*)::int as n from heartbeats`.execute(tx.db);
    t.same(rows, [{ n: 1 }], 'one row a minute, however many beat');
    await sql`insert into heartbeats
      select 'worker', date_trunc('minute', now()) - n * interval '1 minute'
        from generate_series(1, 10) n where n <> 4`.execute(tx.db);
    t.equal(await uptime(tx, 'worker'), 0.9);
    t.equal(await uptime(tx, 'gateway'), null);
    await sql`insert into heartbeats select 'gateway', date_trunc('minute', now()) - n * interval '1 minute'
                from generate_series(1, 144) n`.execute(tx.db);
    t.equal(await uptime(tx, 'gateway', 1), 1, 'since its first beat');
    await sql`insert into heartbeats values ('gateway', date_trunc('minute', now()) - interval '40 days')`.execute(
      tx.db,
    );
    t.equal(await uptime(tx, 'gateway', 1), 0.1, 'it was down when the window began');
  });
});

t.test('a statement over many ids is prepared once, however many they are', async (t) => {
  const { storage, query } = await open(t, { maxConnections: 1 });
  await query("insert into deleted_runs select 'ps_' || n, now() from generate_series(1, 3) n");
  for (const limit of [1, 2])
    t.equal(await repeatDeletions(storage, { afterMs: 0, limit, forget: () => Promise.resolve() }), limit);
  t.same(await query('select poll_id from deleted_runs'), []);
  for (const ids of [['evt_1'], ['evt_1', 'evt_2']]) t.same(await unseenProcessorEvents(storage, ids), new Set(ids));
  for (const text of ['delete from "deleted_runs"%', 'select "id" from "processor_events"%']) {
    const prepared = sql`select name from pg_prepared_statements where statement like ${text}`;
    t.equal((await prepared.execute(storage.db)).rows.length, 1, text);
  }
});
