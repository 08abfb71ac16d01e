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
  const yielding = yieldToStandard({ bus, clock: systemClock, log }, { consumer: flex, standardRunning: () => 0 });
  t.teardown(() => yielding.stop());
  await eventually('it yields', () => yielding.isPaused);
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
  t.notOk(yielding.isPaused);
});

t.test(
  'a worker that is busy with standard polls takes no flex polls; one that runs none is never too busy',
  async (t) => {
    const clock = virtualClock();
    const acts: string[] = [];
    const consumer = { pause: () => void acts.push('pause'), resume: () => void acts.push('resume') };
    let [share, running] = [0.9, 0];
    const bus = { queueWaiting: async () => 0 };
    const yielding = yieldToStandard(
      { bus, clock, log },
      { consumer, standardRunning: () => running, loop: { busyShare: () => share } },
    );
    const look = () => clock.run(new Promise<void>((resolve) => clock.after(450, resolve)));
    await look();
    t.same(acts, []);
    running = 1;
    await look();
    t.same(acts, ['pause']);
    share = 0.3;
    await look();
    t.same(acts, ['pause', 'resume']);
    yielding.stop();
  },
);

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
