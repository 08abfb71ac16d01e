import { setTimeout as sleep } from 'node:timers/promises';
import { FOLLOWED } from '@eloquentpoll/services/copy-postgres';
import { asRole, createRole, databaseOn, queryOnce } from '@eloquentpoll/services/databases';
import { type Postgres, type PostgresOptions, startPostgres } from '@eloquentpoll/services/postgres';
import { openThrowAwayGroup } from '@eloquentpoll/services/throw-away-group';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { openReplica, openStorage } from '../src/index.ts';
import { GENEROUS } from './fixtures.ts';

// slow: 20 s

// Three real servers: a primary, the standby that is promoted, and a replica that goes on following the old primary.
// That one lives on and writes its own log, so positions alone do not show that the replica follows the wrong server.

const MAX_LAG_MS = 3_000;

async function threeServers(t: Test) {
  const group = await openThrowAwayGroup('a replica of an old primary', { neededMb: 400, inMemory: true });
  t.teardown(() => group[Symbol.asyncDispose]());
  const common: PostgresOptions = { group, password: 'secret', durable: false, stage: 1, settings: FOLLOWED };
  const old = await startPostgres(common);
  await queryOnce(old.url, 'create database ep');
  await on(old, 'create table texts (id integer primary key)');
  await on(old, 'insert into texts values (1)');
  await createRole(old.url, READER);
  await on(old, `grant select on texts to ${READER}`);
  const standby = await startPostgres({ ...common, name: 'standby', standbyOf: old });
  const follower = await startPostgres({ ...common, name: 'replica', standbyOf: old });
  const [{ lsn }] = (await on<{ lsn: string }>(old, 'select pg_current_wal_lsn() as lsn')) as [{ lsn: string }];
  for (const server of [standby, follower])
    await eventually('both have the text', async () => {
      const has = `pg_last_wal_replay_lsn() >= '${lsn}'::pg_lsn`;
      return (await on<{ has: boolean }>(server, `select ${has} as has`))[0]!.has;
    });
  return {
    ...{ old, standby, follower },
    /** The replica ends, and a server at its address follows the promoted one; `anew`: from a copy of that. */
    async followStandby(anew: boolean): Promise<void> {
      follower.process.signal('SIGINT');
      await follower.process.exited;
      const ports = async () => Number(new URL(follower.url).port);
      await startPostgres({ ...common, name: anew ? 'remade' : 'replica', standbyOf: standby, ports });
    },
  };
}

/** It may do no more than the role of a gateway. */
const READER = 'reader';

const on = <Row extends object>({ url }: Pick<Postgres, 'url'>, text: string) =>
  queryOnce<Row>(databaseOn(url, 'ep'), text);

function openBoth(t: Test, primary: Postgres, follower: Postgres) {
  const urlOf = ({ url }: Postgres) => asRole(databaseOn(url, 'ep'), READER);
  const storage = openStorage({ databaseUrl: urlOf(primary), ...GENEROUS });
  const replica = openReplica({ primary: storage, replicaUrl: urlOf(follower), maxLagMs: MAX_LAG_MS });
  t.teardown(async () => {
    await replica[Symbol.asyncDispose]();
    await storage[Symbol.asyncDispose]();
  });
  const texts = () =>
    replica.read(async ({ db }) => (await sql<{ id: number }>`select id from texts`.execute(db)).rows.length);
  /** What the replica itself answered; null if the primary did. */
  const ofReplica = async () => {
    const read = await texts();
    return read.reason === null ? { texts: read.value } : null;
  };
  return { replica, texts, ofReplica };
}

t.test('a replica that follows an old primary, which lives on, is not read until it is made anew', async (t) => {
  const { old, standby, follower, followStandby } = await threeServers(t);
  await on(standby, 'select pg_promote()');
  await on(standby, 'delete from texts');
  const { replica, texts, ofReplica } = openBoth(t, standby, follower);

  // The old primary writes half as much as the new one, so it reaches positions that the new one had seconds before.
  const write = (server: Postgres) => on(server, "select pg_logical_emit_message(false, 'lab', repeat('x', 100000))");
  for (let round = 0; round < 5; round++)
    for (const server of [standby, standby, old]) {
      await write(server);
      await sleep(600);
      t.not(replica.state, 'used');
      t.match(await texts(), { value: 0, lagMs: null }, 'a deleted text is not read');
    }

  await followStandby(true);
  t.same(await eventually('the new replica is used', ofReplica), { texts: 0 });
});

t.test('a replica that begins to follow the promoted server is read again', async (t) => {
  const { old, standby, follower, followStandby } = await threeServers(t);
  const { ofReplica } = openBoth(t, standby, follower);
  old.process.signal('SIGKILL');
  await old.process.exited;
  await on(standby, 'select pg_promote()');
  await followStandby(false);
  await on(standby, 'delete from texts');
  await on(standby, 'checkpoint');
  const answer = await eventually('the checkpoint is a restart point of the replica', async () => {
    await on(follower, 'checkpoint');
    return ofReplica();
  });
  t.same(answer, { texts: 0 });
});
