import { virtualClock } from '@eloquentpoll/testkit/virtual-clock';
import t from 'tap';
import { pauseAtCeiling } from '../src/pause-at-ceiling.ts';

const log = { info() {}, warn() {}, error() {} };

function world(waits: (number | null | Error)[]) {
  const clock = virtualClock();
  const acts: [string, number][] = [];
  const polls = {
    asked: 0,
    async spendWaitMs() {
      const wait = waits[polls.asked++]!;
      if (wait instanceof Error) throw wait;
      return wait;
    },
  };
  const consumer = {
    pause: () => void acts.push(['pause', clock.now()]),
    resume: () => void acts.push(['resume', clock.now()]),
  };
  const context = { polls: polls as never, clock, log };
  return { clock, acts, polls, pausing: pauseAtCeiling(context, consumer) };
}

t.test('a flex poll that does not fit under the ceiling pauses the lane, once and not for long', async (t) => {
  const { clock, acts, polls, pausing } = world([null, new Error('away'), 3_000, 3_600_000]);
  const { resolve, promise } = Promise.withResolvers<void>();
  await pausing.unclaimed('ps_ended');
  await pausing.unclaimed('ps_unknown');
  t.same(acts, [], 'it waits for something else');
  await pausing.unclaimed('ps_1');
  await pausing.unclaimed('ps_2');
  t.equal(polls.asked, 3, 'it is known already');
  clock.after(5_000, () => void pausing.unclaimed('ps_3'));
  clock.after(40_000, resolve);
  await clock.run(promise);
  t.same(acts, [
    ['pause', 0],
    ['resume', 3_000],
    ['pause', 5_000],
    ['resume', 35_000],
  ]);
});

t.test('a worker that stops pauses nothing any more', async (t) => {
  const { acts, pausing } = world([3_000]);
  pausing.stop();
  await pausing.unclaimed('ps_1');
  t.same(acts, []);
});
