import { randomUUID } from 'node:crypto';
import { FOLLOWED } from '@eloquentpoll/services/copy-postgres';
import { databaseOn, queryOnce } from '@eloquentpoll/services/databases';
import { type PostgresOptions, startPostgres } from '@eloquentpoll/services/postgres';
import { openThrowAwayGroup } from '@eloquentpoll/services/throw-away-group';
import { createAccount, creditAccount, migrate } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t, { type Test } from 'tap';
import { wholeService } from './whole-service.ts';

// slow: 12 s

// The whole service with a real streaming replica for its lists.

const MAX_LAG_S = 2;

async function primaryAndStandby(t: Test) {
  const group = await openThrowAwayGroup('a primary and its standby', { neededMb: 300, inMemory: true });
  t.teardown(() => group[Symbol.asyncDispose]());
  const settings = { ...FOLLOWED, synchronous_commit: 'on' };
  const common: PostgresOptions = { group, password: 'secret', durable: false, stage: 1, settings };
  const primary = await startPostgres(common);
  await queryOnce(primary.url, 'create database ep');
  await migrate(databaseOn(primary.url, 'ep'));
  const startStandby = (ports?: () => Promise<number>) =>
    startPostgres({ ...common, name: 'standby', standbyOf: primary, ...(ports && { ports }) });
  const first = await startStandby();
  let running = first.process;
  return {
    primaryUrl: databaseOn(primary.url, 'ep'),
    standbyUrl: databaseOn(first.url, 'ep'),
    async kill() {
      running.signal('SIGKILL');
      await running.exited;
    },
    async startAgain() {
      running = (await startStandby(async () => Number(new URL(first.url).port))).process;
    },
  };
}

t.test('lists come from a replica, never without what the account wrote, and never too old', async (t) => {
  const { primaryUrl, standbyUrl, ...standby } = await primaryAndStandby(t);
  const { app, gateway, headers, accountId } = await wholeService(
    t,
    {},
    { recordedVotes: null },
    {
      DATABASE_URL: primaryUrl,
      DATABASE_REPLICA_URL: standbyUrl,
      DATABASE_REPLICA_MAX_LAG: String(MAX_LAG_S),
    },
  );
  const replica = gateway.lists.replica!;
  const list = async () => {
    const answer = await app.inject({ method: 'GET', url: '/api/polls?limit=100', headers });
    t.equal(answer.statusCode, 200);
    const ids: string[] = answer.json().polls.map(({ session_id }: { session_id: string }) => session_id);
    const lag = answer.headers['replica-lag'];
    return { ids, lag: lag === undefined ? null : Number(lag) };
  };
  const ask = async () => {
    const payload = { question: 'Which one?', options: ['A', 'B'], preset: 'fast' };
    const asked = await app.inject({ method: 'POST', url: '/api/polls', headers, payload });
    t.equal(asked.statusCode, 202, asked.body);
    return asked.json().session_id as string;
  };
  const becomes = (state: string) => eventually(`the replica is "${state}"`, () => replica.state === state);
  const fromReplica = () =>
    eventually('the replica answers', async () => {
      const found = await list();
      return found.lag === null ? null : found;
    });

  await becomes('used');
  for (let i = 0; i < 8; i++) {
    const id = await ask();
    t.ok((await list()).ids.includes(id), 'what was just asked is listed');
  }
  const { ids, lag } = await fromReplica();
  t.equal(ids.length, 8);
  t.ok(lag !== null && lag <= MAX_LAG_S, `${lag} s behind`);

  await queryOnce(standbyUrl, 'select pg_wal_replay_pause()');
  // Not by way of the gateway, which would know of it.
  const other = await createAccount(gateway.storage);
  await creditAccount(gateway.storage, { accountId: other, amountU: 1n, source: 'operator', idem: randomUUID() });
  await queryOnce(primaryUrl, `update polls set metadata = '{"seen": "late"}' where account_id = '${accountId}'`);
  const late = await app.inject({ method: 'GET', url: '/api/polls?metadata[seen]=late', headers });
  if (late.headers['replica-lag'] !== undefined) t.same(late.json().polls, [], 'older than it is, and says so');
  const own = await ask();
  t.ok((await list()).ids.includes(own), 'of its own writes nothing is missing');
  await becomes('lags');
  const direct = await list();
  t.equal(direct.lag, null, 'a replica that lags is not asked');
  t.equal(direct.ids.length, 9);
  await queryOnce(standbyUrl, 'select pg_wal_replay_resume()');
  await becomes('used');
  t.equal((await fromReplica()).ids.length, 9, 'and is asked again');

  await standby.kill();
  t.same(await list(), { ids: direct.ids, lag: null }, 'a replica that is away goes unnoticed');
  await becomes('away');
  await standby.startAgain();
  await becomes('used');
  t.same((await fromReplica()).ids, direct.ids);
  const usage = await eventually('the replica answers usage', async () => {
    const answer = await app.inject({ method: 'GET', url: '/api/usage', headers });
    return answer.headers['replica-lag'] === undefined ? null : answer;
  });
  t.ok(usage.json().total !== undefined);

  await eventually('a cursor that the replica does not know is looked up', async () => {
    const missing = await app.inject({ method: 'GET', url: '/api/polls?after=ps_unknown', headers });
    t.equal(missing.statusCode, 400, 'and then refused');
    return /eloquentpoll_lagging_reads_total\{answered="not_found"\} [1-9]/.test(await gateway.metrics.text());
  });
  const figures = await gateway.metrics.text();
  for (const reason of ['replica', 'own_write', 'lag', 'away', 'not_found'])
    t.match(figures, new RegExp(`eloquentpoll_lagging_reads_total\\{answered="${reason}"\\} [1-9]`));
});
