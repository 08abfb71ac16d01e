import { eventually } from '@eloquentpoll/testkit/eventually';
import { testRedis } from '@eloquentpoll/testkit/redis';
import t, { type Test } from 'tap';
import { openBus } from '../src/index.ts';
import { keysUnder } from '../src/keys.ts';
import { MAX_IDLE } from '../src/queue-scripts.ts';
import { queueShard } from '../src/queue-shard.ts';

// What happens to jobs when those who have them, or wait for them, do not live to say so.

async function open(t: Test) {
  const { url, prefix } = testRedis(t);
  const bus = await openBus({ redisUrl: url, prefix, commandTimeoutMs: 5_000 });
  t.teardown(() => bus[Symbol.asyncDispose]());
  const keys = keysUnder(prefix).shard('standard', 0);
  const ran: string[] = [];
  const consume = (options: Partial<Parameters<typeof bus.consumePolls>[0]> = {}) => {
    const consumer = bus.consumePolls({ concurrency: 4, run: async (id) => void ran.push(id), ...options });
    t.teardown(() => consumer.drain(0));
    return consumer;
  };
  return { bus, keys, redis: bus.redis, shard: queueShard(bus.redis, keys), ran, consume };
}

const wish = { consumer: 'dead', want: 1, elsewhere: Infinity, ahead: 0, later: 0, ended: [] };
const hangs = () => new Promise<void>(() => {});
const place = (rank: number) => ({ rank, isAwaited: false });

t.test('a job of a worker that died before it claimed the poll comes back before all others', async (t) => {
  const { bus, keys, redis, shard, ran, consume } = await open(t);
  for (const rank of [0, 1, 2]) await bus.enqueuePoll(`ps_${rank}`, { tenant: 'a b', place: place(rank) });
  const before = Date.now();
  const { jobs } = await shard.take(1, wish);
  const after = Date.now();
  t.same(jobs, [{ jobId: 'ps_0', pollId: 'ps_0', tenant: 'a b', awaitedBy: undefined }]);
  const [, until] = await redis.zrange(keys.taken, '0', '0', 'WITHSCORES');
  const [least, most] = [before - Number(until) + 5_000, after - Number(until) + 5_000];
  t.ok(least <= 0 && most >= 0, `it would come back 5 s after it was taken, ${-least} ms after this began`);
  t.match(await bus.queueCounts(), { waiting: 2, active: 1 });
  await redis.zadd(keys.taken, Date.now(), 'ps_0');
  consume({ concurrency: 1 });
  await eventually('all are run', () => ran.length === 3);
  t.same(ran, ['ps_0', 'ps_1', 'ps_2']);
  await eventually('nothing is left', async () => (await redis.exists(keys.waiting, keys.taken, keys.jobs)) === 0);
});

t.test('what a worker holds stays with it for 10 s from each renewal, and for as long as it renews', async (t) => {
  const { bus, keys, redis, consume, ran } = await open(t);
  consume({
    run(id) {
      ran.push(id);
      return hangs();
    },
  });
  await bus.enqueuePoll('ps_a');
  await eventually('it runs', () => ran.length === 1);
  await eventually('it is renewed', async () => {
    const leftMs = Number(await redis.zscore(keys.taken, 'ps_a')) - Date.now();
    return leftMs > 8_000 && leftMs <= 10_000;
  });
  await bus.enqueuePoll('ps_a');
  t.match(await bus.queueCounts(), { waiting: 0, active: 1 }, 'no second job of the same round is made');
});

t.test('consumers that died while they waited are passed over', async (t) => {
  const { bus, keys, redis, ran, consume } = await open(t);
  await consume().ready();
  // They would take more than the one that lives, so each is tried before it.
  for (let n = 0; n < 50; n++) await redis.zadd(keys.idle, 5, `dead-${n}`);
  const at = performance.now();
  await bus.enqueuePoll('ps_a');
  await eventually('one that lives has it', () => ran.length === 1);
  t.comment(`after ${(performance.now() - at).toFixed(1)} ms`);
  t.same(
    (await redis.zrange(keys.idle, '0', '-1')).filter((name) => name.startsWith('dead')),
    [],
  );
});

t.test('consumers that died while they waited do not become more and more', async (t) => {
  const { keys, redis, consume } = await open(t);
  const dead = Array.from({ length: MAX_IDLE + 10 }, (_, n) => [1, `dead-${n}`]).flat();
  await redis.zadd(keys.idle, ...dead);
  await consume().ready();
  t.equal(await redis.zcard(keys.idle), MAX_IDLE);
  t.match(
    await redis.zrange(keys.idle, '-1', '-1', 'WITHSCORES'),
    [/^[0-9a-f]{12}$/, '4'],
    'the one that lives is there',
  );
});

t.test('jobs go to the consumer that would take most, and on to others from one that is full or paused', async (t) => {
  const { bus, keys, redis } = await open(t);
  const ran: Record<string, number> = { one: 0, two: 0, three: 0 };
  const [one] = await Promise.all(
    ['one', 'two', 'three'].map(async (name) => {
      const consumer = bus.consumePolls({
        concurrency: 3,
        run() {
          ran[name]! += 1;
          return hangs();
        },
      });
      t.teardown(() => consumer.drain(0));
      await consumer.ready();
      return consumer;
    }),
  );
  const all = () => ran.one! + ran.two! + ran.three!;
  for (let n = 0; n < 3; n++) {
    await bus.enqueuePoll(`ps_${n}`);
    await eventually('it runs', () => all() === n + 1);
    await eventually('all are idle', async () => (await redis.zcard(keys.idle)) === 3);
  }
  t.same(Object.values(ran), [1, 1, 1]);
  one!.pause();
  await eventually('it waits for none', async () => (await redis.zcard(keys.idle)) === 2);
  await bus.enqueuePolls(
    'standard',
    Array.from({ length: 6 }, (_, n) => ({ pollId: `ps_more_${n}` })),
  );
  await eventually('the others are full', () => ran.two === 3 && ran.three === 3);
  t.match(await bus.queueCounts(), { waiting: 2, active: 7 });
  one!.resume();
  await eventually('it goes on', () => ran.one === 3);
});

t.test('a Redis that came back empty is used within a second', async (t) => {
  const { bus, keys, redis, ran, consume } = await open(t);
  await consume().ready();
  await redis.del(keys.waiting, keys.taken, keys.jobs, keys.clock, keys.idle);
  await bus.enqueuePoll('ps_a');
  await eventually('it is run', () => ran.length === 1, 5_000);
});

t.test('a job without facts is the poll that it names', async (t) => {
  const { bus, keys, redis, shard } = await open(t);
  await bus.enqueuePoll('ps_a', { round: 3, tenant: 'a' });
  await redis.del(keys.jobs);
  t.match(await bus.queueCounts(), { waiting: 1, oldestAt: null });
  t.match(await shard.head(5), [{ jobId: 'ps_a.3', pollId: 'ps_a', tenant: undefined }]);
  t.same((await shard.take(1, wish)).jobs, [{ jobId: 'ps_a.3', pollId: 'ps_a', tenant: undefined }]);
});

t.test('a worker that wakes up late ends nothing that waits again', async (t) => {
  const { bus, keys, redis, shard, ran, consume } = await open(t);
  await bus.enqueuePoll('ps_a');
  await shard.take(1, wish);
  await shard.giveBack('ps_a');
  await shard.take(1, { ...wish, want: 0, consumer: 'other' });
  t.match(await bus.queueCounts(), { waiting: 1, active: 0 });
  await shard.take(1, { ...wish, want: 0, ended: ['ps_a'] });
  await shard.renew(['ps_a']);
  t.match(await bus.queueCounts(), { waiting: 1, active: 0 });
  t.equal(await redis.hlen(keys.jobs), 1);
  consume();
  await eventually('it is run', () => ran.length === 1);
});

t.test('turns and arrivals are exact where numbers are large', async (t) => {
  const { bus, keys, redis, shard } = await open(t);
  await redis.hset(keys.clock, { turn: 2 ** 34, arrived: 2 ** 40 + 2 ** 16 - 2 });
  await bus.enqueuePoll('ps_0', { place: place(0) });
  await bus.enqueuePoll('ps_2', { place: place(1) });
  await bus.enqueuePoll('ps_3', { place: place(2) });
  await bus.enqueuePoll('ps_1', { place: place(0) });
  const head = (await shard.head(9)).map(({ pollId }) => pollId);
  t.same(new Set(head.slice(0, 2)), new Set(['ps_0', 'ps_1']), 'arrivals begin anew in between');
  t.same(head.slice(2), ['ps_2', 'ps_3']);
  t.same((await bus.queueBacklog([0, 1, 2])).before, [2, 3, 4]);
});
