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

t.test('a worker that is strained by standard polls runs fewer and fewer flex polls, one at the least', async (t) => {
  const clock = virtualClock();
  const acts: (string | number)[] = [];
  const consumer = {
    pause: () => void acts.push('pause'),
    resume: () => void acts.push('resume'),
    limit: (most: number) => void acts.push(most),
  };
  let [isStrained, running, inFront] = [true, 0, 0];
  const loop = { isStrained: () => isStrained, stop() {} };
  const yielding = yieldToStandard(
    { bus: { queueWaiting: async () => inFront }, clock, log },
    { consumer, most: 40, standardRunning: () => running, loop },
  );
  const looks = (times: number) => clock.run(new Promise<void>((resolve) => clock.after(times * 200 + 50, resolve)));
  await looks(2);
  t.equal(yielding.allowed, 40, 'one that runs none is never too busy');
  running = 1;
  await looks(7);
  t.equal(yielding.allowed, 1);
  t.notOk(acts.includes('pause'));
  isStrained = false;
  await looks(3);
  t.ok(yielding.allowed > 4 && yielding.allowed <= 9, `${yielding.allowed}: two more each time`);
  inFront = 1;
  await looks(2);
  t.equal(yielding.allowed, 0);
  t.equal(acts.at(-1), 'pause');
  [inFront, running] = [0, 0];
  await looks(2);
  t.ok(yielding.allowed > 0 && acts.includes('resume'));
  await looks(12);
  t.equal(yielding.allowed, 40, 'soon after the last standard poll');
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
