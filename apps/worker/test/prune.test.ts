import { virtualClock } from '@eloquentpoll/testkit/virtual-clock';
import t from 'tap';
import { keepSweeping } from '../src/sweep.ts';

const refuse = (): never => {
  throw new Error('not in this test');
};
const never = async (): Promise<never> => refuse();

t.test('what is over goes in bounded steps, without a rest as long as there is more', async (t) => {
  const clock = virtualClock();
  const at: number[] = [];
  let left = 12_000;
  const done = Promise.withResolvers<void>();
  const polls = {
    sweepAlone: async () => true,
    beat: async () => {},
    async prune(limit: number) {
      at.push(clock.now());
      const pruned = Math.min(limit, left);
      left -= pruned;
      if (at.length === 4) done.resolve();
      return pruned;
    },
    claim: never,
    claimOverdue: never,
    spendWaitMs: never,
    renew: never,
    release: never,
    finish: never,
    bury: never,
    trackRecord: never,
    findLapsed: never,
    findOverdue: never,
    nextLapse: async () => null,
  };
  const runs = { open: never, vote: never, end: never, takeOver: never };
  const bus = { enqueuePoll: never, consumePolls: refuse, queueCounts: never, queueWaiting: never, runs };
  const log = { info() {}, warn() {}, error() {} };
  const sweeping = keepSweeping({ polls, bus, clock, log, random: () => 0.5 });
  await clock.run(done.promise);
  sweeping.stop();
  t.equal(left, 0);
  const pauses = at.slice(1).map((time, i) => time - at[i]!);
  t.same(pauses.slice(0, 2), [3_000, 3_000], 'at the next sweeps');
  t.ok(pauses[2]! >= 60_000, 'and then after a minute');
});
