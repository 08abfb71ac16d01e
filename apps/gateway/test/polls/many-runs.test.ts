import { listKeys, openStorage, type Storage } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { Redis } from 'ioredis';
import t from 'tap';
import { revokeKeyEverywhere } from '../../src/accounts/keys/revoke-key.ts';
import type { Context } from '../../src/context.ts';
import { runCache } from '../../src/polls/read/run-cache.ts';
import { pollRereads } from '../../src/polls/run/poll-rereads.ts';
import { times } from '../attacks/full-scale.ts';
import { build, type Gateway } from '../fixtures/build.ts';
import { takePoll } from '../fixtures/hand-worker.ts';
import { replicaOf } from '../fixtures/replica.ts';

// slow: 3 s

const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B'] };

async function begin({ app, context }: Gateway, bearer: Record<string, string>) {
  const answer = await app.inject({ method: 'POST', url: '/api/polls', headers: bearer, payload: POLL });
  const id: string = answer.json().session_id;
  const worker = await takePoll(context, id);
  await worker.open();
  return { id, worker, url: `/api/polls/${id}/status` };
}

t.test('reading running and ended runs is one Redis round trip and no Postgres query', async (t) => {
  let questions = 0;
  const gateway = await build(t);
  const { bearer } = await gateway.keyWith(10);
  const running = await begin(gateway, bearer);
  const ended = await begin(gateway, bearer);
  await ended.worker.end();

  const counted: Storage = counting(gateway.context, () => void questions++);
  t.teardown(() => counted[Symbol.asyncDispose]());
  const runs = runCache();
  // Not read again by itself while queries are counted.
  using rereads = pollRereads({ storage: gateway.context.storage, runs, log: gateway.context.log }, 600_000);
  const { app, context } = await build(t, gateway.context.config, { storage: counted, runs, rereads });
  const ask = (url: string) => app.inject({ url, headers: bearer });
  for (const { url } of [running, ended]) t.equal((await ask(url)).statusCode, 200);

  // What is sent in one turn of the event loop is one write, which the connection is held back for.
  let trips = 0;
  const { stream } = context.bus.redis as Redis;
  const cork = stream.cork.bind(stream);
  stream.cork = () => {
    trips++;
    cork();
  };
  questions = 0;
  for (let i = 1; i <= 20; i++) {
    for (const { url } of [running, ended]) t.equal((await ask(url)).statusCode, 200);
    t.same([trips, questions], [2 * i, 0]);
  }
  await Promise.all(Array.from({ length: 50 }, () => ask(running.url)));
  t.ok(trips <= 42 + 5, `${trips - 40} trips for 50 requests at once`);
  t.equal(questions, 0);
});

/** A storage that records every query. */
function counting({ config }: Context, used: () => void): Storage {
  const storage = openStorage({ databaseUrl: config.database.url });
  return {
    pool: storage.pool,
    get db() {
      used();
      return storage.db;
    },
    call(text, values) {
      used();
      return storage.call(text, values);
    },
    [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
  };
}

t.test(
  '[§5-rule-revoked, §3.3-revoke-stops-auth, §A6-api-key-revoked-everywhere] a key revoked on one replica is refused by the other at once, in every round',
  async (t) => {
    const here = await build(t);
    const there = await replicaOf(t, here.context);
    const owner = await here.keyWith(10);
    const sessions = [await begin(here, owner.bearer), await begin(here, owner.bearer)];
    await sessions[1]!.worker.end();

    async function revokeOne(i: number): Promise<string> {
      const { bearer, accountId } = await here.keyWith(0);
      const url = sessions[i % 2]!.url;
      // Failed authentication is limited per address, and each round fails.
      const remoteAddress = `203.0.${i >> 8}.${i & 255}`;
      const ask = async () => (await there.app.inject({ url, headers: bearer, remoteAddress })).statusCode;
      // Another account's session: authenticated, then 404.
      const before = await ask();
      const [key] = await listKeys(here.context.storage, accountId);
      const asked = ask();
      await revokeKeyEverywhere(here.context, accountId, key!.id);
      const after = await Promise.all([ask(), ask()]);
      await asked;
      return `${before} ${after}`;
    }
    const seen = new Map<string, number>();
    const rounds = times(100, 1_000);
    for (let i = 0; i < rounds; i += 20) {
      for (const outcome of await Promise.all(Array.from({ length: 20 }, (_, n) => revokeOne(i + n)))) {
        seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
      }
    }
    t.same([...seen], [['404 401,401', rounds]]);
  },
);

t.test('a run whose end was not published is read as ended', async (t) => {
  const gateway = await build(t);
  const { app, context } = gateway;
  const { bearer } = await gateway.keyWith(10);
  const polled = await begin(gateway, bearer);
  const waited = await begin(gateway, bearer);
  const asked = app.inject({ url: waited.url, headers: { ...bearer, prefer: 'wait=30' } });
  await eventually('one poll is watched', () => context.bus.watched() === 1);
  for (const { worker } of [polled, waited]) {
    await worker.vote();
    await worker.end({ silent: true });
  }
  t.equal((await asked).json().status, 'completed');
  await eventually(
    'the poll is completed',
    async () => (await app.inject({ url: polled.url, headers: bearer })).json().status === 'completed',
  );
});

t.test('once a gateway has said that a run ended, its result is there at every gateway', async (t) => {
  const gateway = await build(t);
  const other = await replicaOf(t, gateway.context);
  const { bearer } = await gateway.keyWith(10);
  const { id, url, worker } = await begin(gateway, bearer);
  const result = () => other.app.inject({ url: `/api/polls/${id}/result`, headers: bearer });
  t.equal((await result()).statusCode, 202);
  const asked = gateway.app.inject({ url, headers: { ...bearer, prefer: 'wait=30' } });
  await eventually('the poll is watched', () => gateway.context.bus.watched() === 1);
  await worker.vote();
  // Stored, while Redis still says that it runs.
  await worker.end({ silent: true });
  t.equal((await asked).json().status, 'completed');
  t.match(await result(), { statusCode: 200 });
});

t.test('without the run record in Redis the status comes from Postgres', async (t) => {
  const gateway = await build(t);
  const { app, context } = gateway;
  const { bearer } = await gateway.keyWith(10);
  const { id, url, worker } = await begin(gateway, bearer);
  await worker.vote();
  await context.bus.redis.del(`${context.bus.prefix}:{${id}}:run`);
  const ask = async () => (await app.inject({ url, headers: bearer })).json();
  t.same(await ask(), { session_id: id, status: 'running', result_id: null });
  await worker.vote();
  t.same(
    await ask(),
    { session_id: id, status: 'running', result_id: null },
    'a run record without an owner is ignored',
  );
  await worker.end();
  t.match(await ask(), { status: 'completed' });
});

t.test('concurrent reads of several runs are one Postgres query', async (t) => {
  const { context, keyWith } = await build(t);
  let queries = 0;
  const storage = counting(context, () => void queries++);
  t.teardown(() => storage[Symbol.asyncDispose]());
  const runs = runCache();
  using rereads = pollRereads({ storage, runs, log: context.log }, 1);
  const gateway = { app: (await replicaOf(t, context)).app, context, keyWith } as Gateway;
  const { bearer } = await keyWith(10);
  const begun = await Promise.all(Array.from({ length: 5 }, () => begin(gateway, bearer)));
  for (const { id } of begun) for (let i = 0; i < 100; i++) rereads.schedule(id);
  await eventually('every poll is known to run', () => begun.every(({ id }) => runs.running(id)));
  t.equal(queries, 1);
  const heard: string[] = [];
  const listener = {
    endedInPostgres({ pollId }: { pollId: string }) {
      heard.push(pollId);
      rereads.remove(pollId, listener);
    },
  };
  for (const { id } of begun) rereads.add(id, listener);
  rereads.remove(begun[0]!.id, listener);
  for (const { worker } of begun.slice(0, 2)) {
    await worker.vote();
    await worker.end({ silent: true });
  }
  await eventually('something is heard', () => heard.length > 0);
  t.same(heard, [begun[1]!.id]);
  t.match(runs.ended(begun[1]!.id), { status: 'completed', resultId: /^EP-/ });
  t.equal(rereads.followed(), 3);
});

t.test('without Redis, runs and keys are read from Postgres', async (t) => {
  const gateway = await build(t);
  const { app, context } = gateway;
  const { bearer, accountId } = await gateway.keyWith(10);
  const revoked = await gateway.keyWith(0);
  const { id, url, worker } = await begin(gateway, bearer);
  await worker.vote();
  t.equal((await app.inject({ url, headers: bearer })).headers.etag, '"1"');
  const [key] = await listKeys(context.storage, revoked.accountId);
  await revokeKeyEverywhere(context, revoked.accountId, key!.id);

  context.bus.redis.disconnect();
  const away = await app.inject({ url, headers: bearer });
  t.same([away.statusCode, away.json()], [200, { session_id: id, status: 'running', result_id: null }]);
  t.match(away.headers, { etag: '"running"', 'ratelimit-limit': '6000' });
  t.equal((await app.inject({ url, headers: revoked.bearer })).statusCode, 401);
  const asked = app.inject({ url, headers: { ...bearer, prefer: 'wait=30' } });
  await worker.end({ silent: true });
  t.equal((await asked).json().status, 'completed');
  t.ok(accountId);
});

t.test('after Redis closes connections requests are answered and connections restored', async (t) => {
  const gateway = await build(t);
  const { app, context } = gateway;
  const { bearer } = await gateway.keyWith(10);
  const { url, worker } = await begin(gateway, bearer);
  const admin = new Redis(context.config.redis.url);
  t.teardown(() => admin.disconnect());
  for (let i = 0; i < 5; i++) {
    const id = await context.bus.redis.client('ID');
    const asked = Array.from({ length: 10 }, () => app.inject({ url, headers: bearer }));
    await admin.client('KILL', 'ID', String(id));
    for (const answer of [...(await Promise.all(asked)), await app.inject({ url, headers: bearer })]) {
      t.equal(answer.statusCode, 200);
    }
    await eventually('Redis is connected', () => context.bus.redis.status === 'ready');
  }
  await worker.vote();
  t.equal((await app.inject({ url, headers: bearer })).json().progress.received, 1);
});
