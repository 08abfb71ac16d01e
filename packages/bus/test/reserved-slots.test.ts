import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { BEFORE_ALL, placeInTurns } from '../src/fair-place.ts';
import type { QueueShard, WaitingJob } from '../src/queue-shard.ts';
import { reservedSlots } from '../src/reserved-slots.ts';
import { tenantSlots } from '../src/tenant-slots.ts';

// The parts of fairness between tenants, without a queue.

t.test('a place: by rank in turns, and within a turn those first whose callers wait', (t) => {
  const places = [0, 1, 2].flatMap((rank) => [true, false].map((isAwaited) => placeInTurns({ rank, isAwaited })));
  t.same(places, [0, 1, 2, 3, 4, 5]);
  t.ok(BEFORE_ALL < places[0]!, 'one that a worker had already is before them all');
  t.end();
});

t.test('slots are full at their number, and each tenant has as many as it took and has not given back', (t) => {
  const slots = tenantSlots(3);
  const taken = ['one', 'one', undefined].map((tenant) => {
    t.notOk(slots.areFull);
    return slots.take(tenant);
  });
  t.ok(slots.areFull);
  t.same([slots.of('one'), slots.of('two')], [2, 0]);
  for (const [place, left] of [
    [0, 1],
    [1, 0],
  ] as const) {
    taken[place]![Symbol.dispose]();
    t.equal(slots.of('one'), left);
    t.notOk(slots.areFull);
  }
  for (const tenant of ['two', 'three']) slots.take(tenant);
  t.ok(slots.areFull, 'what was given back was taken again');
  t.end();
});

/** Slots of which all are taken, two by the busy tenant, and a queue with these jobs at its head. */
function reserve(t: Test, waiting: readonly string[], { reserved = 2, full = true } = {}) {
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  const slots = tenantSlots(full ? 3 : 4);
  for (const tenant of ['busy', 'busy', 'other']) slots.take(tenant);
  const left = new Set(waiting);
  const looks: number[] = [];
  const running = new Map<string, () => void>();
  const errors: Error[] = [];
  const state = { fails: false, held: null as Promise<void> | null };
  const shard = Object.assign({} as QueueShard, { pick: async (id: string) => left.delete(id) });
  const reserve = reservedSlots({
    queue: {
      async head(limit) {
        looks.push(limit);
        await state.held;
        if (state.fails) throw new Error('away');
        return [...left].map((jobId): WaitingJob => {
          const [name = ''] = jobId.split(' ');
          return { jobId, tenant: name === 'none' ? undefined : name, shard, score: 0 } as WaitingJob;
        });
      },
    },
    slots,
    reserved,
    async run({ jobId }) {
      const ended = Promise.withResolvers<void>();
      running.set(jobId, ended.resolve);
      await ended.promise;
      running.delete(jobId);
    },
    onError: (error) => void errors.push(error),
  });
  t.teardown(() => reserve.stop());
  async function settle(): Promise<void> {
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  async function look(): Promise<string[]> {
    mock.timers.tick(200);
    await settle();
    return [...running.keys()];
  }
  return { reserve, look, looks, settle, running, errors, state };
}

t.test('while all other slots are taken, the reserve runs polls of tenants that have few of them', async (t) => {
  const waiting = ['busy 1', 'other 1', 'none 1', 'third 1', 'fourth 1', 'fifth 1', 'sixth 1'];
  const { look, looks, running, settle } = reserve(t, waiting);
  t.same(await look(), ['third 1', 'fourth 1'], 'neither a tenant with half as many, nor a poll of none');
  t.same(looks, [64]);
  t.same(await look(), ['third 1', 'fourth 1']);
  t.equal(looks.length, 1, 'a full reserve is not filled');
  running.get('third 1')!();
  await settle();
  t.same(await look(), ['fourth 1', 'fifth 1'], 'what has ended gives its one slot back');
});

t.test('a tenant with as many as half of the reserve, rounded up, gets none of it, one with fewer does', async (t) => {
  for (const [reserved, ran] of [
    [1, []],
    [2, []],
    [3, ['other 1']],
    [4, ['other 1']],
    [5, ['busy 1', 'other 1']],
  ] as const) {
    t.same(await reserve(t, ['busy 1', 'other 1'], { reserved }).look(), ran, `${reserved} reserved`);
    mock.timers.reset();
  }
});

t.test('nothing is looked for while other slots are free, while it is paused, or during another look', async (t) => {
  const free = reserve(t, ['third 1'], { full: false });
  t.same(await free.look(), []);
  t.same(free.looks, []);
  mock.timers.reset();
  const { reserve: slots, look, looks, settle, state, running } = reserve(t, ['third 1']);
  slots.pause();
  t.same([await look(), looks.length], [[], 0]);
  slots.resume();
  const held = Promise.withResolvers<void>();
  state.held = held.promise;
  t.same([await look(), looks.length], [[], 1]);
  t.same([await look(), looks.length], [[], 1], 'one look at a time');
  slots.pause();
  held.resolve();
  await settle();
  t.same([...running.keys()], [], 'a pause ends what was being looked for');
  slots.resume();
  t.same(await look(), ['third 1']);
});

t.test('a look that fails is reported, and the next one is made; a stop waits for the last one', async (t) => {
  const { reserve: slots, look, looks, errors, state } = reserve(t, ['third 1']);
  state.fails = true;
  t.same(await look(), []);
  t.match(errors, [{ message: 'away' }]);
  state.fails = false;
  const held = Promise.withResolvers<void>();
  state.held = held.promise;
  t.same(await look(), []);
  let hasStopped = false;
  const stopping = slots.stop().then(() => {
    hasStopped = true;
  });
  t.same(await look(), []);
  t.equal(hasStopped, false);
  held.resolve();
  await stopping;
  t.same([await look(), looks.length], [[], 2]);
});
