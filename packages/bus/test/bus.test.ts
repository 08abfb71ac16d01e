import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { testRedis } from '@eloquentpoll/testkit/redis';
import { Redis } from 'ioredis';
import t, { type Test } from 'tap';
import { openBus } from '../src/index.ts';
import { snapshot, vote } from './fixtures.ts';

async function bus(t: Test) {
  const { url, prefix } = testRedis(t);
  // Generous: a crowded machine must not look like a fault.
  const bus = await openBus({ redisUrl: url, prefix, commandTimeoutMs: 5_000 });
  t.teardown(() => bus[Symbol.asyncDispose]());
  return { bus, url, prefix };
}

t.test('a poll that is enqueued reaches one consumer, twice enqueued still once', async (t) => {
  const { bus: b } = await bus(t);
  await b.enqueuePoll('ps_a');
  await b.enqueuePoll('ps_a');
  await b.enqueuePoll('ps_b');
  const ran: string[] = [];
  const consumer = b.consumePolls({ concurrency: 4, run: async (id) => void ran.push(id) });
  await eventually('both polls were run', () => ran.includes('ps_a') && ran.includes('ps_b'));
  t.same(ran.toSorted(), ['ps_a', 'ps_b']);
  // A job ends when Redis has heard so, a moment after its poll.
  await eventually('no job is active', async () => (await b.queueCounts()).active === 0);
  await b.enqueuePoll('ps_a');
  await eventually('three polls were run', () => ran.length === 3);
  t.equal(ran[2], 'ps_a', 'a poll whose job ended can be enqueued again');
  await consumer.drain(1_000);
});

t.test('a job that still occupies its id does not block the next round', async (t) => {
  const { bus: b } = await bus(t);
  const ran: string[] = [];
  let release = () => {};
  const blocked = new Promise<void>((resolve) => {
    release = resolve;
  });
  const consumer = b.consumePolls({
    concurrency: 2,
    run: async (id) => {
      ran.push(id);
      if (ran.length === 1) await blocked;
    },
  });
  await b.enqueuePoll('ps_a');
  await eventually('one poll was run', () => ran.length === 1);
  await b.enqueuePoll('ps_a', { round: 1 });
  await eventually('two polls were run', () => ran.length === 2);
  t.same(ran, ['ps_a', 'ps_a']);
  release();
  await consumer.drain(1_000);
});

t.test('drain waits for running polls, then aborts them', async (t) => {
  const { bus: b } = await bus(t);
  let reason: unknown;
  let started = false;
  const consumer = b.consumePolls({
    concurrency: 1,
    run: (_id, signal) =>
      new Promise((resolve) => {
        started = true;
        signal.addEventListener('abort', () => {
          reason = signal.reason;
          resolve();
        });
      }),
  });
  await b.enqueuePoll('ps_a');
  await eventually('the run has started', () => started);
  await consumer.drain(20);
  t.ok(reason, 'the poll was aborted');
});

t.test('watchers see what is published after watch resolved; leaving frees the subscription', async (t) => {
  const { bus: b } = await bus(t);
  const seen: number[] = [];
  const also: number[] = [];
  const one = await b.watchPoll('ps_a', (s) => void seen.push(s?.seq ?? -1));
  const two = await b.watchPoll('ps_a', (s) => void also.push(s?.seq ?? -1));
  t.equal(b.watched(), 1, 'one subscription for both');
  await b.runs.open('ps_a', 1, 'acc', snapshot(0));
  await b.runs.vote('ps_a', 1, vote(0), snapshot(1));
  await eventually('both watchers have two snapshots', () => seen.length === 2 && also.length === 2);
  t.same(seen, [0, 1]);
  one.close();
  await b.runs.vote('ps_a', 1, vote(1), snapshot(2));
  await eventually('the second watcher has three snapshots', () => also.length === 3);
  t.same(seen, [0, 1], 'a watcher that left hears nothing');
  two.close();
  two.close();
  t.equal(b.watched(), 0);
});

t.test('who waits for the end alone hears nothing else, from whichever worker ends the poll', async (t) => {
  const { bus: gateway, url, prefix } = await bus(t);
  const worker = await openBus({ redisUrl: url, prefix, commandTimeoutMs: 5_000 });
  t.teardown(() => worker[Symbol.asyncDispose]());
  const [all, ends]: [number[], number[]] = [[], []];
  const watches = await Promise.all([
    gateway.watchPoll('ps_a', (s) => void all.push(s?.seq ?? -1)),
    gateway.watchEnd('ps_a', (s) => void ends.push(s?.seq ?? -1)),
  ]);
  let rounds = 0;
  const consumer = worker.consumePolls({
    concurrency: 1,
    async run(id) {
      rounds += 1;
      // The first worker hands the poll over.
      if (rounds === 1) return worker.enqueuePoll(id, { round: 1 });
      await worker.runs.open(id, 1, 'acc', snapshot(0));
      await worker.runs.vote(id, 1, vote(0), snapshot(1));
      await worker.runs.end(id, 1, 'acc', { ...snapshot(2), status: 'completed' });
    },
  });
  t.teardown(() => consumer.drain(0));
  await gateway.enqueuePoll('ps_a', { tenant: 'a' });
  await eventually('three snapshots and an end arrive', () => all.length === 3 && ends.length > 0);
  t.same(all, [0, 1, 2]);
  t.same(ends, [2]);
  t.equal(rounds, 2);
  for (const watch of watches) watch.close();
  t.equal(gateway.watched(), 0);
});

t.test('of two jobs of one poll on one worker, the first to end leaves the other who waits for it', async (t) => {
  const { bus: gateway, url, prefix } = await bus(t);
  const worker = await openBus({ redisUrl: url, prefix, commandTimeoutMs: 5_000 });
  t.teardown(() => worker[Symbol.asyncDispose]());
  const ends: unknown[] = [];
  await gateway.watchEnd('ps_a', (news) => ends.push(news?.seq));
  const jobs: PromiseWithResolvers<void>[] = [];
  let ended = 0;
  const consumer = worker.consumePolls({
    concurrency: 2,
    async run() {
      const job = Promise.withResolvers<void>();
      jobs.push(job);
      await job.promise.finally(() => {
        ended += 1;
      });
    },
  });
  t.teardown(() => consumer.drain(0));
  await gateway.enqueuePoll('ps_a');
  await eventually('the poll runs', () => jobs.length === 1);
  // As a sweep does, which does not know who waits.
  const sweeping = await openBus({ redisUrl: url, prefix, commandTimeoutMs: 5_000 });
  t.teardown(() => sweeping[Symbol.asyncDispose]());
  await sweeping.enqueuePoll('ps_a', { round: 1 });
  await eventually('it runs twice', () => jobs.length === 2);
  jobs[0]!.resolve();
  await eventually('the first job has ended', async () => ended === 1 && (await worker.queueCounts()).active === 1);
  await worker.runs.end('ps_a', 2, 'acc', { ...snapshot(2), status: 'completed' });
  await eventually('the end is heard', () => ends.length > 0);
  t.same(ends, [2]);
  jobs[1]!.resolve();
  await eventually('both have ended', async () => (await worker.queueCounts()).active === 0);
  await worker.runs.end('ps_a', 3, 'acc', { ...snapshot(3), status: 'completed' });
  await gateway.runs.end('ps_a', 4, 'acc', { ...snapshot(4), status: 'completed' });
  await eventually('an end that this process announces is heard', () => ends.includes(4));
  t.same(ends, [2, 4], 'of jobs that are over nothing is kept');
});

t.test('after a lost connection every watcher is asked to read again', async (t) => {
  const { bus: b, url, prefix } = await bus(t);
  const news: (number | null)[] = [];
  await b.watchPoll('ps_a', (s) => void news.push(s?.seq ?? null));
  const ends: unknown[] = [];
  await b.watchEnd('ps_b', (s) => void ends.push(s));
  const admin = new Redis(url);
  t.teardown(() => admin.disconnect());
  const clients = String(await admin.client('LIST', 'TYPE', 'PUBSUB'));
  for (const line of clients.split('\n')) {
    const id = /(?:^| )id=(\d+) /.exec(line)?.[1];
    if (id && line.includes(`name={${prefix}}-watch`)) await admin.client('KILL', 'ID', id);
  }
  await eventually('the end is announced', () => news.includes(null) && ends.includes(null));
  await b.runs.open('ps_a', 1, 'acc', snapshot(7));
  await eventually('the number is announced', () => news.includes(7));
  t.pass('and the subscription stands again');
});

t.test('a connection lost while resubscribing is opened once more', async (t) => {
  const { url, prefix } = testRedis(t);
  const { hostname, port } = new URL(url);
  let subscriptions = 0;
  const between = createServer((near) => {
    const far = connect(Number(port), hostname);
    const cut = () => {
      near.destroy();
      far.destroy();
    };
    for (const end of [near, far]) end.on('error', cut).on('close', cut);
    far.pipe(near);
    near.on('data', (bytes) => {
      const subscribes = /\bsubscribe\b/i.test(bytes.toString());
      if (subscribes) subscriptions += 1;
      // The first one stands; the next three are lost on their way.
      if (subscribes && subscriptions > 1 && subscriptions < 5) cut();
      else far.write(bytes);
    });
    t.teardown(cut);
  });
  between.listen(0, '127.0.0.1');
  await once(between, 'listening');
  t.teardown(() => between.close());
  const through = new URL(url);
  through.port = String((between.address() as AddressInfo).port);
  const b = await openBus({ redisUrl: through.href, prefix, commandTimeoutMs: 5_000 });
  t.teardown(() => b[Symbol.asyncDispose]());
  const news: (number | null)[] = [];
  await b.watchPoll('ps_a', (s) => void news.push(s?.seq ?? null));
  const ends: unknown[] = [];
  await b.watchEnd('ps_b', (s) => void ends.push(s));
  const admin = new Redis(url);
  t.teardown(() => admin.disconnect());
  for (const line of String(await admin.client('LIST', 'TYPE', 'PUBSUB')).split('\n')) {
    const id = /(?:^| )id=(\d+) /.exec(line)?.[1];
    if (id && line.includes(`name={${prefix}}-watch`)) await admin.client('KILL', 'ID', id);
  }
  await eventually('the end is announced', () => news.includes(null));
  t.equal(subscriptions, 5);
  const direct = await openBus({ redisUrl: url, prefix, commandTimeoutMs: 5_000 });
  t.teardown(() => direct[Symbol.asyncDispose]());
  await direct.runs.open('ps_a', 1, 'acc', snapshot(7));
  await eventually('the number is announced', () => news.includes(7));
  t.pass('and news arrive');
});

t.test('the run record is fenced by the epoch', async (t) => {
  const { bus: b } = await bus(t);
  t.equal(await b.runs.open('ps_a', 2, 'acc', snapshot(0)), true);
  t.equal(await b.runs.vote('ps_a', 2, vote(0), snapshot(1)), true);
  const heard: number[] = [];
  await b.watchPoll('ps_a', (s) => void heard.push(s?.seq ?? -1));
  t.equal(await b.runs.vote('ps_a', 1, vote(1), snapshot(9)), false, 'a worker that lost its lease is refused');
  t.same((await b.runs.read('ps_a'))?.snapshot.seq, 1);
  t.same(await b.runs.votes('ps_a'), [vote(0)]);
  t.equal(await b.runs.end('ps_a', 2, 'acc', snapshot(2, { status: 'completed', result_id: 'EP-1' })), true);
  await eventually('something is heard', () => heard.length > 0);
  t.same(heard, [2], 'and nothing of it was announced');
  const kept = await b.runs.read('ps_a');
  t.match(kept, { owner: 'acc', snapshot: { status: 'completed', result_id: 'EP-1', result: null } });
  t.same(await b.runs.votes('ps_a'), [], 'votes leave Redis when the poll ended');
});

t.test('a write that is repeated or comes late adds its vote; what is not newer is not announced', async (t) => {
  const { bus: b } = await bus(t);
  const heard: number[] = [];
  await b.watchPoll('ps_a', (s) => void heard.push(s?.seq ?? -1));
  t.ok(await b.runs.vote('ps_a', 1, vote(1), snapshot(2)));
  const late = [b.runs.open('ps_a', 1, 'acc', snapshot(0)), b.runs.vote('ps_a', 1, vote(0), snapshot(1))];
  t.same(await Promise.all(late), [true, true]);
  t.ok(await b.runs.vote('ps_a', 1, vote(1), snapshot(2)));
  t.match(await b.runs.read('ps_a'), { owner: 'acc', snapshot: { seq: 2 } });
  t.same((await b.runs.votes('ps_a')).map(({ seat }) => seat).toSorted(), [0, 1]);
  const together = [b.runs.vote('ps_a', 1, vote(2), snapshot(4)), b.runs.vote('ps_a', 1, vote(1), snapshot(3))];
  t.same(await Promise.all(together), [true, true]);
  t.match(await b.runs.briefs(['ps_a']), [{ owner: 'acc', seq: 4 }]);
  await b.runs.end('ps_a', 1, 'acc', snapshot(5, { status: 'completed' }));
  t.ok(await b.runs.vote('ps_a', 1, vote(3), snapshot(6)));
  t.match(await b.runs.read('ps_a'), { snapshot: { status: 'completed' } });
  t.same(await b.runs.votes('ps_a'), [], 'nothing is added after the end');
  t.ok(await b.runs.open('ps_a', 2, 'acc', snapshot(64)));
  await eventually('the next worker is heard', () => heard.at(-1) === 64);
  t.same(heard, [2, 3, 4, 5, 64]);
});

t.test('a record that was lost in between is rebuilt by the end of the poll', async (t) => {
  const { bus: b } = await bus(t);
  t.equal(await b.runs.read('ps_x'), null);
  await b.runs.end('ps_x', 3, 'acc', snapshot(4, { poll_id: 'ps_x', status: 'completed' }));
  t.match(await b.runs.read('ps_x'), { owner: 'acc', snapshot: { status: 'completed' } });
});

t.test(
  'a record that was lost in between has a snapshot again with the next vote, and an owner with the end',
  async (t) => {
    const { bus: b, prefix } = await bus(t);
    await b.runs.open('ps_a', 1, 'acc', snapshot(0));
    await b.redis.del(`${prefix}:{ps_a}:run`);
    await b.runs.vote('ps_a', 1, vote(0), snapshot(1));
    t.match(await b.runs.read('ps_a'), { owner: null, snapshot: { seq: 1 } });
    t.same(await b.runs.briefs(['ps_a']), [null], 'a record without an owner is not shown');
    await b.runs.end('ps_a', 1, 'acc', snapshot(2, { status: 'completed' }));
    t.match(await b.runs.read('ps_a'), { owner: 'acc', snapshot: { seq: 2 } });
  },
);

t.test('records are read in brief, in the order of their ids', async (t) => {
  const { bus: b } = await bus(t);
  t.same(await b.runs.briefs(['ps_a']), [null]);
  t.same(await b.runs.briefs([]), []);
  await b.runs.open('ps_a', 1, 'acc', snapshot(0));
  await b.runs.vote('ps_a', 1, vote(0), snapshot(1));
  const progress = JSON.stringify(snapshot(1).progress);
  const running = { owner: 'acc', status: 'running', seq: 1, resultId: null, progress };
  t.same(await b.runs.briefs(['ps_b', 'ps_a']), [null, running]);
  await b.runs.end('ps_a', 1, 'acc', snapshot(2, { status: 'failed', result_id: 'EP-1' }));
  t.match(await b.runs.briefs(['ps_a']), [{ owner: 'acc', status: 'failed', seq: 2, resultId: 'EP-1' }]);
  for (const stored of ['', 'acc', ' 1 running - {}', 'acc 1 running -', 'acc 1 asleep - {}']) {
    await b.redis.hset(`${b.prefix}:{ps_a}:run`, 'brief', stored);
    t.same(await b.runs.briefs(['ps_a']), [null], JSON.stringify(stored));
  }
});

t.test('a record outlives the deadline of its poll, near or a day away, whichever write was the first', async (t) => {
  const { bus: b } = await bus(t);
  const DAY_MS = 86_400_000;
  const ttlMs = (id: string) => b.redis.pttl(`${b.prefix}:{${id}}:run`);
  await b.runs.open('ps_open', 1, 'acc', snapshot(0), DAY_MS);
  await b.runs.vote('ps_vote', 1, vote(0), snapshot(1), DAY_MS);
  await b.runs.vote('ps_taken', 1, vote(0), snapshot(1));
  await b.runs.takeOver('ps_taken', 2, DAY_MS);
  for (const id of ['ps_open', 'ps_vote', 'ps_taken']) t.ok((await ttlMs(id)) > DAY_MS, id);
  await b.runs.open('ps_near', 1, 'acc', snapshot(0), 120_000);
  await b.runs.takeOver('ps_over', 2, -60_000);
  for (const id of ['ps_near', 'ps_over']) {
    const left = await ttlMs(id);
    t.ok(left > 120_000 && left <= 600_000, `${id}: ${left}`);
  }
});

t.test('refuses a Redis that evicts', async (t) => {
  const { url } = testRedis(t);
  const admin = new Redis(url);
  t.teardown(() => admin.disconnect());
  const info = admin.info.bind(admin);
  const { refuseEviction } = await import('../src/refuse-eviction.ts');
  await refuseEviction(admin);
  admin.info = async () =>
    (await info('memory')).replace('maxmemory_policy:noeviction', 'maxmemory_policy:allkeys-lru');
  await t.rejects(refuseEviction(admin), /maxmemory-policy is allkeys-lru.*noeviction/);
});

t.test('fails fast where no Redis is', async (t) => {
  await t.rejects(openBus({ redisUrl: 'redis://127.0.0.1:1' }));
});

t.test('a worker that takes over gets every vote that was logged, and shuts earlier workers out', async (t) => {
  const { bus: b } = await bus(t);
  t.same(await b.runs.takeOver('ps_a', 2), [], 'nothing was logged, or it was lost');
  await b.runs.vote('ps_b', 1, vote(4), snapshot(1));
  await b.runs.vote('ps_b', 1, vote(0), snapshot(2));
  const [taken, late] = await Promise.all([b.runs.takeOver('ps_b', 2), b.runs.vote('ps_b', 1, vote(1), snapshot(3))]);
  t.same(taken?.map(({ seat }) => seat).toSorted(), [0, 4]);
  t.equal(late, false, 'what is not in the list is refused');
  t.same((await b.runs.votes('ps_b')).length, 2);
  t.equal(await b.runs.takeOver('ps_b', 1), null, 'a newer worker has the poll');
});
