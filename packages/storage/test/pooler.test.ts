import { randomBytes } from 'node:crypto';
import { asRole, createRole, queryOnce } from '@eloquentpoll/services/databases';
import { startPgbouncer } from '@eloquentpoll/services/pgbouncer';
import { openThrowAwayGroup } from '@eloquentpoll/services/throw-away-group';
import { ownerUrl, testDatabase } from '@eloquentpoll/testkit/database';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import {
  APP_ROLES,
  acceptPoll,
  checkLedger,
  claimPoll,
  finishPoll,
  GATEWAY_ROLE,
  inTransaction,
  openStorage,
  roleTimeouts,
  type Storage,
  type StorageOptions,
  withLock,
} from '../src/index.ts';
import { acceptance, finished, funded, together, USD } from './fixtures.ts';

// slow: 4 s

// A real PgBouncer in transaction mode: connections are shared between transactions, and nothing may belong to one of them.

const POOL_SIZE = 4;
const CLIENTS = 60;

async function pooled(t: Test) {
  const direct = await testDatabase(t);
  const owner = ownerUrl(direct);
  const role = `t_pooled_${randomBytes(6).toString('hex')}`;
  await createRole(owner, role, APP_ROLES);
  t.teardown(() => queryOnce(owner, `drop role ${role}`));
  const group = await openThrowAwayGroup('a pooler');
  t.teardown(() => group[Symbol.asyncDispose]());
  const pooler = await startPgbouncer({ group, serverUrl: owner, roles: [role], poolSize: POOL_SIZE, stage: 1 });
  const open = (options: Partial<StorageOptions> = {}) => {
    const storage = openStorage({
      databaseUrl: pooler.through(asRole(direct, role)),
      connectTimeoutMs: 20_000,
      ...options,
    });
    t.teardown(() => storage[Symbol.asyncDispose]());
    return storage;
  };
  return { owner, role, open, pooler };
}

t.test('many clients share few connections, with statements that are prepared by name', async (t) => {
  const { owner, role, open, pooler } = await pooled(t);
  const processes = Array.from({ length: CLIENTS / 10 }, () => open({ maxConnections: 10 }));
  const [storage] = processes as [Storage];
  const accountId = await funded(storage, 1_000n * USD);
  const most = { servers: 0, clients: 0 };
  let isOver = false;
  const watch = async () => {
    while (!isOver) {
      const servers = await queryOnce(owner, `select from pg_stat_activity where usename = '${role}'`);
      const users = await queryOnce<{ user: string }>(pooler.adminUrl, 'show clients');
      most.servers = Math.max(most.servers, servers.length);
      most.clients = Math.max(most.clients, users.filter(({ user }) => user === role).length);
    }
  };
  const watching = watch();
  const outcomes = await together(5 * CLIENTS, CLIENTS, async (i) => {
    const own = processes[i % processes.length]!;
    const asked = acceptance(accountId);
    await acceptPoll(own, asked);
    const claim = await claimPoll(own, asked.poll.id, 'worker');
    return (await finishPoll(own, finished(claim!))).outcome;
  });
  isOver = true;
  await watching;
  t.same(new Set(outcomes), new Set(['stored']));
  t.ok(most.clients >= CLIENTS / 2, `${most.clients} clients`);
  t.ok(most.servers > 0 && most.servers <= POOL_SIZE, `${most.servers} connections to Postgres`);
  t.same(await checkLedger(storage), []);
});

t.test('every wait ends: by the settings of the role, and in a transaction by those of the process', async (t) => {
  const { owner, role, open, pooler } = await pooled(t);
  const busy = { name: 'StorageBusy' };
  let unlimited = 0;
  const storage = open({ maxConnections: 1, onUnlimited: () => (unlimited += 1) });
  const sleep = (seconds: number) => sql`select pg_sleep(${seconds})`;
  await sleep(0).execute(storage.db);
  t.equal(unlimited, 1, 'a role without settings is noticed');

  t.ok(roleTimeouts.some((statement) => statement.includes('statement_timeout')));
  for (const statement of roleTimeouts.filter((statement) => statement.includes(GATEWAY_ROLE)))
    await queryOnce(owner, statement.replace(GATEWAY_ROLE, role).replace("'5s'", "'2s'"));
  // Connections of the pooler that were made before are as they were.
  await queryOnce(pooler.adminUrl, 'reconnect');
  const limited = open();
  await t.rejects(sleep(20).execute(limited.db), busy, 'a single statement');
  const quick = open({ statementTimeoutMs: 100, lockTimeoutMs: 50 });
  await t.rejects(
    inTransaction(quick, ({ db }) => sleep(0.2).execute(db)),
    busy,
    'a statement of a transaction',
  );
  const lock = sql`select pg_advisory_xact_lock(1)`;
  await limited.db.transaction().execute(async (db) => {
    await lock.execute(db);
    await t.rejects(
      inTransaction(quick, (tx) => lock.execute(tx.db)),
      busy,
      'a lock',
    );
  });
  const { rows } = await sql<{ ms: string }>`select current_setting('statement_timeout') as ms`.execute(limited.db);
  t.equal(rows[0]!.ms, '2s', 'what a transaction asked for ended with it');
});

t.test('a lock belongs to a transaction: one process at a time, and none keeps it', async (t) => {
  const { open } = await pooled(t);
  const [one, other] = [open(), open()];
  const took = await withLock(one, 'sweep', 5_000, async () => {
    t.equal(await withLock(other, 'sweep', 5_000, async () => {}), false);
  });
  t.equal(took, true);
  t.equal(await withLock(other, 'sweep', 5_000, async () => {}), true);
});
