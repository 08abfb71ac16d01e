import { openBus } from '@eloquentpoll/bus';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { testRedis } from '@eloquentpoll/testkit/redis';
import { virtualClock } from '@eloquentpoll/testkit/virtual-clock';
import t from 'tap';
import { tryClaim } from '../src/claim-poll.ts';
import { systemClock } from '../src/clock.ts';
import { NO_EVIDENCE } from '../src/evidence/evidence.ts';
import { hedgeBudget } from '../src/hedge-budget.ts';
import { keepLeases } from '../src/leases.ts';
import { pauseOnStoreOutage } from '../src/pause-on-store-outage.ts';
import type { PollStore } from '../src/ports.ts';
import { servePolls } from '../src/serve-polls.ts';

const log = { info() {}, warn() {}, error() {} };
const never = () => Promise.reject(new Error('not in this test'));

/** A store that can be away, and knows no poll. */
function storeThatCanBeAway() {
  let away = true;
  const claimed: string[] = [];
  const answer = <T>(value: T): Promise<T> => (away ? Promise.reject(new Error('away')) : Promise.resolve(value));
  const polls: PollStore = {
    claim(pollId) {
      claimed.push(pollId);
      return answer(null);
    },
    claimOverdue: () => answer(null),
    spendWaitMs: never,
    renew: () => answer([]),
    sweepAlone: () => answer(false),
    beat: () => answer(undefined),
    prune: () => answer(0),
    release: never,
    finish: never,
    bury: never,
    trackRecord: never,
    findLapsed: never,
    findOverdue: never,
    nextLapse: never,
  };
  return {
    polls,
    claimed,
    comesBack() {
      away = false;
    },
  };
}

t.test('a worker without Postgres leaves the jobs to others, and takes them again when it is back', async (t) => {
  const { url, prefix } = testRedis(t);
  const bus = await openBus({ redisUrl: url, prefix });
  t.teardown(() => bus[Symbol.asyncDispose]());
  const store = storeThatCanBeAway();
  const ids = Array.from({ length: 40 }, (_, i) => `ps_${i}`);
  for (const id of ids) await bus.enqueuePoll(id);
  const leases = keepLeases(store.polls, 'w', systemClock, () => {});
  t.teardown(() => leases.stop());
  const context = {
    workerId: 'w',
    polls: store.polls,
    bus,
    ask: never,
    leases,
    audits: null,
    hedges: hedgeBudget(),
    freeFailures: { atLeastU: 0n, sharePpm: 0 },
    evidence: NO_EVIDENCE,
    clock: systemClock,
    random: Math.random,
    log,
    [Symbol.asyncDispose]: async () => {},
  };
  const serving = servePolls(context, { concurrency: 2 });
  t.teardown(() => serving.drain(1_000));
  const resting = async () => store.claimed.length > 0 && (await bus.queueCounts()).active === 0;
  await eventually('the worker takes no more jobs', resting);
  t.ok(store.claimed.length <= 4, `${store.claimed.length} of ${ids.length} jobs were taken`);
  await eventually(
    'all wait, those too that it had taken and gave back',
    async () => (await bus.queueCounts()).waiting === ids.length,
  );
  store.comesBack();
  await eventually('all jobs are taken', () => new Set(store.claimed).size === ids.length);
});

t.test('a claim that is not answered for long is like one that failed', async (t) => {
  const clock = virtualClock();
  const heard: string[] = [];
  const consumer = {
    pause: () => void heard.push(`pause at ${clock.now()}`),
    resume: () => void heard.push(`resume at ${clock.now()}`),
  };
  const polls = {
    ...storeThatCanBeAway().polls,
    claim: () => new Promise<never>((_, reject) => clock.after(7_000, () => reject(new Error('no answer')))),
    beat: () => (clock.now() < 3_000 ? Promise.reject(new Error('away')) : Promise.resolve()),
  };
  const outage = pauseOnStoreOutage({ polls, clock, log, random: () => 0.5 }, consumer);
  const claim = tryClaim({ polls, workerId: 'w', clock }, 'ps_a');
  const giveBack = () => void heard.push(`given back at ${clock.now()}`);
  await t.rejects(clock.run(outage.watch(claim, giveBack)), { message: 'no answer' });
  const expected = ['pause at 1500', 'given back at 1500', 'resume at 3000', 'pause at 7000'];
  t.same(heard, expected, 'and the failure is seen once more');
  outage.stop();
  t.equal(clock.pending(), 0);
});
