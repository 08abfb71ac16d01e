import { openBus } from '@eloquentpoll/bus';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { testRedis } from '@eloquentpoll/testkit/redis';
import { virtualClock } from '@eloquentpoll/testkit/virtual-clock';
import t from 'tap';
import { systemClock } from '../src/clock.ts';
import { pauses } from '../src/pauses.ts';
import { yieldToStandard } from '../src/yield-to-standard.ts';

const log = { info() {}, warn() {}, error() {} };

t.test('while a standard poll waits no flex poll is taken; then they go on', async (t) => {
  const { url, prefix } = testRedis(t);
  const bus = await openBus({ redisUrl: url, prefix });
  t.teardown(() => bus[Symbol.asyncDispose]());
  const ran: string[] = [];
  const flex = bus.consumePolls({
    lane: 'flex',
    concurrency: 2,
    async run(id) {
      await yielding.turn();
      ran.push(id);
    },
  });
  t.teardown(() => flex.drain(100));
  await bus.enqueuePoll('ps_standard');
  const yielding = yieldToStandard(
    { bus, clock: systemClock, log },
    { consumer: flex, most: 2, standardRunning: () => 0 },
  );
  t.teardown(() => yielding.stop());
  await eventually('it yields', () => yielding.allowed === 0);
  await bus.enqueuePolls('flex', [
    { pollId: 'ps_flex', tenant: 'one', place: { rank: 0, isAwaited: false } },
    { pollId: 'ps_other', tenant: 'two', place: { rank: 0, isAwaited: false } },
  ]);
  const { waiting, active } = await bus.queueCounts('flex');
  t.equal(waiting + active, 2);
  t.same(ran, []);
  const standard = bus.consumePolls({ concurrency: 1, run: async (id) => void ran.push(id) });
  t.teardown(() => standard.drain(100));
  await eventually('all of them ran', () => ran.length === 3);
  t.equal(ran[0], 'ps_standard');
  t.equal(yielding.allowed, 2);
});

/** A worker of 42 flex polls that looks each 200 ms, and what its consumer was asked for. */
function yielding() {
  const clock = virtualClock();
  const now = { isStrained: false, running: 0, inFront: 0, answer: Promise.resolve() };
  const acts: (string | number)[] = [];
  const lookedAt: number[] = [];
  const consumer = {
    pause: () => void acts.push('pause'),
    resume: () => void acts.push('resume'),
    limit: (most: number) => void acts.push(most),
  };
  const queueWaiting = async () => {
    lookedAt.push(clock.now());
    await now.answer;
    return now.inFront;
  };
  const yields = yieldToStandard(
    { bus: { queueWaiting }, clock, log },
    { consumer, most: 42, standardRunning: () => now.running, loop: { isStrained: () => now.isStrained, stop() {} } },
  );
  const wait = (ms: number) => clock.run(new Promise<void>((resolve) => clock.after(ms, resolve)));
  /** What comes of each of so many looks. */
  async function looks(times: number): Promise<(string | number)[]> {
    const before = acts.length;
    for (let i = 0; i < times; i++) await wait(200);
    return acts.slice(before);
  }
  return { yields, now, acts, lookedAt, looks, wait };
}

t.test('a worker that is strained by standard polls runs fewer and fewer flex polls, one at the least', async (t) => {
  const { yields, now, lookedAt, looks, wait } = yielding();
  await wait(100);
  now.isStrained = true;
  t.same([await looks(2), yields.allowed], [[], 42], 'one that runs none is never too busy');
  t.same(lookedAt, [200, 400], 'five times a second');
  now.running = 1;
  t.same(await looks(7), [21, 10, 5, 2, 1], 'half as many each time, and never none');
  await yields.turn();
  now.isStrained = false;
  t.same(await looks(3), [4, 7, 10], 'all again in twenty steps');
  now.isStrained = true;
  t.same(await looks(1), [5]);
  now.isStrained = false;
  t.same(await looks(20), [8, 11, 14, 17, 20, 23, 26, 29, 32, 35, 38, 41, 42]);
  yields.stop();
});

t.test('two seconds after the last standard poll ran here, no strain counts', async (t) => {
  const { yields, now, looks, wait } = yielding();
  await wait(100);
  Object.assign(now, { isStrained: true, running: 1 });
  t.same(await looks(1), [21]);
  now.running = 0;
  t.same(await looks(10), [10, 5, 2, 1], 'for two seconds its user may ask again');
  t.same(await looks(1), [42]);
  t.same(await looks(5), []);
  yields.stop();
});

t.test('a flex poll that was taken too late waits for its turn, and goes on when its worker stops', async (t) => {
  const { yields, now, acts, lookedAt, looks, wait } = yielding();
  await wait(100);
  const turns: string[] = [];
  const turn = (name: string) => yields.turn().then(() => void turns.push(name));
  await turn('before');
  now.inFront = 1;
  t.same(await looks(2), ['pause']);
  void turn('during');
  await wait(10);
  t.same(turns, ['before']);
  now.inFront = 0;
  t.same(await looks(1), [42, 'resume']);
  t.same(turns, ['before', 'during']);
  now.inFront = 1;
  t.same(await looks(1), ['pause']);
  void turn('at the end');
  const { promise, resolve } = Promise.withResolvers<void>();
  Object.assign(now, { inFront: 0, answer: promise });
  t.same([await looks(1), turns.length], [[], 2]);
  const before = [acts.length, lookedAt.length];
  yields.stop();
  await turn('after it');
  t.same(turns.slice(2), ['at the end', 'after it']);
  resolve();
  await looks(3);
  t.same(
    [acts.length, lookedAt.length],
    before,
    'one that has stopped looks no more, and a late answer changes nothing',
  );
});

t.test('a look that fails is noted, and the next one counts', async (t) => {
  const clock = virtualClock();
  const notes: string[] = [];
  let isAway = true;
  const queueWaiting = async () => {
    if (isAway) throw new Error('away');
    return 1;
  };
  const yielding = yieldToStandard(
    { bus: { queueWaiting }, clock, log: { ...log, warn: (...noted: unknown[]) => void notes.push(String(noted[1])) } },
    { consumer: { pause() {}, resume() {}, limit() {} }, most: 4, standardRunning: () => 0 },
  );
  const looks = (times: number) => clock.run(new Promise<void>((resolve) => clock.after(times * 200 + 50, resolve)));
  await looks(2);
  t.same(notes, ['flex.look_failed', 'flex.look_failed']);
  t.equal(yielding.allowed, 4);
  isAway = false;
  await looks(1);
  t.equal(yielding.allowed, 0);
  yielding.stop();
});

t.test('a consumer that is paused for two reasons goes on when both are over', async (t) => {
  const acts: string[] = [];
  const reason = pauses({ pause: () => void acts.push('pause'), resume: () => void acts.push('resume') });
  const [one, other] = [reason(), reason()];
  one.resume();
  one.pause();
  one.pause();
  other.pause();
  one.resume();
  t.same(acts, ['pause']);
  other.resume();
  t.same(acts, ['pause', 'resume']);
});
