import { readFileSync } from 'node:fs';
import { FOLLOWED } from '@eloquentpoll/services/copy-postgres';
import { databaseOn, queryOnce } from '@eloquentpoll/services/databases';
import { type PostgresOptions, startPostgres } from '@eloquentpoll/services/postgres';
import { openThrowAwayGroup } from '@eloquentpoll/services/throw-away-group';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { type KyselyPlugin, sql } from 'kysely';
import t from 'tap';
import { openReplica, openStorage } from '../src/index.ts';

// slow: 8 s

// A real standby, and a primary that has written less than the standby has: as after a failover to a server that had
// received less than the replica.

t.test(
  'a replica that has more than the primary is not read, nor one that stands still while clocks go back',
  async (t) => {
    const group = await openThrowAwayGroup('a lost tail', { neededMb: 300, inMemory: true });
    t.teardown(() => group[Symbol.asyncDispose]());
    const common: PostgresOptions = { group, password: 'secret', durable: false, stage: 1, settings: FOLLOWED };
    const server = await startPostgres(common);
    await queryOnce(server.url, 'create database ep');
    const follower = await startPostgres({ ...common, name: 'replica', standbyOf: server });
    if (process.platform === 'linux')
      t.notMatch(readFileSync(`/proc/${follower.process.pid}/cmdline`, 'utf8'), /secret/, 'no process list shows it');
    await using storage = openStorage({ databaseUrl: databaseOn(server.url, 'ep') });
    let lost = 0n;
    const shorterLog: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => ({
        ...result,
        rows: result.rows.map((row) => (typeof row.lsn === 'bigint' ? { ...row, lsn: row.lsn - lost } : row)),
      }),
    };
    const primary = { ...storage, db: storage.db.withPlugin(shorterLog) };
    await using replica = openReplica({ primary, replicaUrl: databaseOn(follower.url, 'ep'), maxLagMs: 3_000 });
    const isReplica = () =>
      replica.read(async ({ db }) => {
        return (await sql<{ is: boolean }>`select pg_is_in_recovery() as is`.execute(db)).rows[0]!.is;
      });
    // Each look may find it slow for a moment, on a machine that does much else.
    const used = async () => {
      const read = await isReplica();
      return read.value && read.reason === null;
    };
    const lagging = async () => {
      const read = await isReplica();
      return read.reason === 'lag' && read;
    };
    await eventually('the replica is used', used);

    lost = 1_000_000n;
    t.same(await eventually('the replica is used no more', lagging), { value: false, lagMs: null, reason: 'lag' });

    lost = 0n;
    await eventually('the replica is used again', used);

    // The replica stands still, and the clock of the gateway's machine is set back.
    await queryOnce(follower.url, 'select pg_wal_replay_pause()');
    await queryOnce(server.url, 'create table later ()');
    const { now } = Date;
    Date.now = () => now() - 3_600_000;
    t.teardown(() => {
      Date.now = now;
    });
    t.same(await eventually('the replica lags', lagging), { value: false, lagMs: null, reason: 'lag' });
  },
);
