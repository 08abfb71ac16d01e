import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { testRedis } from '@eloquentpoll/testkit/redis';
import t, { type Test } from 'tap';
import { type Bus, openBus } from '../src/index.ts';

// slow: 4 s

async function bus(t: Test, queueShards = 1): Promise<Bus> {
  const { url, prefix } = testRedis(t);
  const bus = await openBus({ redisUrl: url, prefix, queueShards, commandTimeoutMs: 5_000 });
  t.teardown(() => bus[Symbol.asyncDispose]());
  return bus;
}

t.test('of 200 waiting polls of one tenant and one of a neighbour, the neighbour is second', async (t) => {
  const b = await bus(t);
  for (let rank = 0; rank < 200; rank++) await b.enqueuePoll(`ps_busy_${rank}`, { place: { rank, isAwaited: false } });
  await b.enqueuePoll('ps_neighbour', { place: { rank: 0, isAwaited: false } });
  await b.enqueuePoll('ps_awaited', { place: { rank: 0, isAwaited: true } });
  await b.enqueuePoll('ps_repeated', { round: 2 });
  t.match(await b.queueCounts(), { waiting: 203, active: 0, oldestAt: Number });
  const ran: string[] = [];
  const consumer = b.consumePolls({ concurrency: 1, run: async (id) => void ran.push(id) });
  await eventually('all polls were run', () => ran.length === 203);
  t.same(ran.slice(0, 5), ['ps_repeated', 'ps_awaited', 'ps_busy_0', 'ps_neighbour', 'ps_busy_1']);
  await consumer.drain(1_000);
});

t.test('the backlog before a new poll is counted by its rank', async (t) => {
  const b = await bus(t);
  t.same(await b.queueBacklog([0, 5]), { before: [0, 0], active: 0 });
  for (let rank = 0; rank < 10; rank++) await b.enqueuePoll(`ps_busy_${rank}`, { place: { rank, isAwaited: false } });
  await b.enqueuePoll('ps_awaited', { place: { rank: 3, isAwaited: true } });
  await b.enqueuePoll('ps_repeated', { round: 1 });
  t.same(await b.queueBacklog([0, 2, 3, 9, 500]), { before: [2, 4, 6, 12, 12], active: 0 });
});

for (const shards of [1, 4, 16])
  t.test(`64 tenants that always have 10 or 60 polls waiting get equal shares of ${shards} shards`, (t) =>
    equalShares(t, shards),
  );

async function equalShares(t: Test, shards: number): Promise<void> {
  const b = await bus(t, shards);
  const POLLS = 3_200;
  const tenants = Array.from({ length: 64 }, (_, n) => ({ n, asks: n % 2 ? 10 : 60, waiting: 0, ran: 0 }));
  let next = 0;
  const ask = (tenant: (typeof tenants)[number]) =>
    b.enqueuePoll(`ps_${tenant.n}_${next++}`, {
      tenant: `tenant ${tenant.n}`,
      place: { rank: tenant.waiting++, isAwaited: false },
    });
  await Promise.all(
    tenants.map(async (tenant) => {
      while (tenant.waiting < tenant.asks) await ask(tenant);
    }),
  );
  let all = 0;
  const consumer = b.consumePolls({
    concurrency: 20,
    async run(id) {
      const tenant = tenants[Number(id.split('_')[1])]!;
      tenant.waiting -= 1;
      if (all === POLLS) return;
      all += 1;
      tenant.ran += 1;
      await ask(tenant);
      await nextTurn();
    },
  });
  await eventually('enough polls were run', () => all === POLLS, 30_000);
  await consumer.drain(5_000);
  const ran = tenants.map((tenant) => tenant.ran);
  const jain = POLLS ** 2 / (ran.length * ran.reduce((sum, n) => sum + n * n, 0));
  t.ok(jain >= 0.99, `Jain's index of finished polls is ${jain.toFixed(4)}; by rank alone it was 0.53`);
  t.comment(`polls per tenant: ${Math.min(...ran)} to ${Math.max(...ran)}, Jain's index ${jain.toFixed(4)}`);
}

t.test('in 16 shards, too, a neighbour of a tenant with 400 waiting polls has one of the next two slots', async (t) => {
  const b = await bus(t, 16);
  await b.enqueuePolls(
    'standard',
    Array.from({ length: 400 }, (_, rank) => ({ pollId: `ps_busy_${rank}`, place: { rank, isAwaited: false } })),
  );
  const slots: (() => void)[] = [];
  const ran: string[] = [];
  const consumer = b.consumePolls({
    concurrency: 4,
    run(id) {
      ran.push(id);
      return new Promise((resolve) => void slots.push(resolve));
    },
  });
  await eventually('all slots are taken', () => slots.length === 4);
  t.same(ran.toSorted(), ['ps_busy_0', 'ps_busy_1', 'ps_busy_2', 'ps_busy_3']);
  for (let neighbour = 0; neighbour < 5; neighbour++) {
    const id = `ps_neighbour_${neighbour}`;
    await b.enqueuePoll(id, { place: { rank: 0, isAwaited: false } });
    // It looks at all heads every 100 ms; its timer is due before ours, and Redis answers a connection in order.
    for (let looks = 0; looks < 3; looks++) {
      await delay(120);
      await b.redis.ping();
    }
    const before = ran.length;
    for (const taken of [1, 2]) {
      slots.shift()!();
      await eventually('the next one runs', () => ran.length === before + taken);
    }
    t.ok(ran.slice(before).includes(id), `${ran.slice(before)}: a turn has one poll of each`);
  }
  const draining = consumer.drain(1_000);
  for (const resolve of slots) resolve();
  await draining;
});

t.test('a tenant whose polls hang takes all slots but the reserved ones, which are for others', async (t) => {
  const b = await bus(t);
  const place = { rank: 0, isAwaited: false };
  for (let rank = 0; rank < 40; rank++)
    await b.enqueuePoll(`ps_busy_${rank}`, { tenant: 'busy', place: { rank, isAwaited: false } });
  const ended = Promise.withResolvers<void>();
  const ran: string[] = [];
  const consumer = b.consumePolls({
    concurrency: 10,
    reserved: 2,
    async run(id) {
      ran.push(id);
      if (id.startsWith('ps_busy')) await ended.promise;
    },
  });
  await eventually('the tenant has its share', () => ran.length === 8);
  for (const tenant of ['one', 'two']) await b.enqueuePoll(`ps_of_${tenant}`, { tenant, place });
  await eventually('its neighbours are run', () => ran.length >= 10);
  t.same(ran.slice(8).toSorted(), ['ps_of_one', 'ps_of_two']);
  await eventually('those of the neighbours have ended', async () => (await b.queueCounts()).active <= 8);
  t.match(await b.queueCounts(), { waiting: 32, active: 8 });
  ended.resolve();
  await eventually('everything is run', () => ran.length === 42);
  t.equal(new Set(ran).size, 42, 'each once');
  await consumer.drain(1_000);
});

t.test('polls in reserved slots are waited for, and aborted, like all others', async (t) => {
  const b = await bus(t);
  for (const id of ['busy', 'late'])
    await b.enqueuePoll(`ps_${id}`, { tenant: id, place: { rank: 0, isAwaited: false } });
  const aborted: string[] = [];
  const running = new Set<string>();
  const consumer = b.consumePolls({
    concurrency: 2,
    reserved: 1,
    run: (id, signal) =>
      new Promise((resolve) => {
        running.add(id);
        signal.addEventListener('abort', () => {
          aborted.push(id);
          resolve();
        });
      }),
  });
  await eventually('both run', () => running.size === 2);
  await consumer.drain(50);
  t.same(aborted.toSorted(), ['ps_busy', 'ps_late']);
});
