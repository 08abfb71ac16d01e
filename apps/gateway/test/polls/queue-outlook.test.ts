import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { queueOutlook } from '../../src/polls/run/queue-outlook.ts';
import { build } from '../fixtures/build.ts';
import { stored } from '../fixtures/stored.ts';

const POLL = { question: 'Which of the two is larger, please?', options: ['Sun', 'Moon'], preset: 'fast' };

/** A queue with so many jobs before each rank, looked at again each second. */
async function outlook(fleet: { before: (rank: number) => number; active: number; meanMs: number | null }) {
  let time = 0;
  let looks = 0;
  const found = queueOutlook({
    bus: {
      async queueBacklog(ranks) {
        looks += 1;
        return { before: ranks.map(fleet.before), active: fleet.active };
      },
    },
    log: { warn: (err: unknown) => t.fail(String(err)) },
    now: () => time,
    meanMs: async () => fleet.meanMs,
  });
  async function pass(seconds: number): Promise<void> {
    for (let i = 0; i < seconds; i++) {
      time += 1_000;
      const before = looks;
      found.maxWaiting(1);
      await eventually('the queue was looked at', () => looks > before);
      await Promise.resolve();
    }
  }
  return { found, pass, fleet };
}

t.test('what may wait follows from the jobs before it, the polls that run, and how long they take', async (t) => {
  // 50 slots and polls of 4 s: 12.5 a second. Ten tenants have 200 waiting each, so rank n is behind 10 n others.
  const { found, pass } = await outlook({ before: (rank) => Math.min(10 * rank, 2_000), active: 50, meanMs: 4_000 });
  t.equal(found.maxWaiting(20_000), undefined, 'nothing is known yet');
  await pass(3);
  t.equal(found.maxWaiting(20_000), 25, '250 jobs are run in 20 s');
  t.equal(found.maxWaiting(60_000), 75);
  t.equal(found.maxWaiting(200_000), undefined, 'all that wait are run in 160 s');
  t.equal(found.waitMs(32), 25_600);
  t.equal(found.waitMs(5_000), 160_000);
});

t.test('a queue with more first polls than can start in time takes no more', async (t) => {
  const { found, pass } = await outlook({ before: () => 400, active: 50, meanMs: 4_000 });
  await pass(3);
  t.equal(found.maxWaiting(20_000), -1);
  t.equal(found.maxWaiting(40_000), undefined);
});

t.test('nothing is refused by a rate that is not known: at the start, without results, without workers', async (t) => {
  const { found, pass, fleet } = await outlook({ before: () => 4_000, active: 2, meanMs: 4_000 });
  for (let n = 0; n < 4; n++) {
    fleet.active *= 2;
    await pass(1);
    t.equal(found.maxWaiting(20_000), undefined, 'more and more polls run');
  }
  await pass(2);
  t.equal(found.maxWaiting(20_000), -1);
  fleet.meanMs = null;
  await pass(2);
  t.equal(found.maxWaiting(20_000), undefined);
  Object.assign(fleet, { meanMs: 4_000, active: 0 });
  await pass(2);
  t.equal(found.maxWaiting(20_000), undefined);
});

t.test('a poll that cannot start in time is a 429, costs nothing, and keeps no key', async (t) => {
  const shown = { max: 1 as number | undefined };
  const outlook = { maxWaiting: () => shown.max, waitMs: () => 31_200 };
  const { app, context, keyWith } = await build(t, {}, { outlook });
  const { bearer } = await keyWith(10);
  const start = (headers: Record<string, string> = {}) =>
    app.inject({ method: 'POST', url: '/api/polls', headers: { ...bearer, ...headers }, payload: POLL });
  for (let i = 0; i < 2; i++) t.equal((await start()).statusCode, 202);
  const before = await stored(context);
  const refused = await start({ 'idempotency-key': 'again' });
  t.match([refused.statusCode, refused.json().code], [429, 'rate_limited']);
  t.match(refused.json().error, /would wait about 32 s/);
  t.equal(refused.headers['retry-after'], '9', 'what it would wait beyond half of its 45 s');
  t.same(await stored(context), before);
  shown.max = undefined;
  const accepted = await start({ 'idempotency-key': 'again' });
  t.equal(accepted.statusCode, 202);
  shown.max = -1;
  const repeated = await start({ 'idempotency-key': 'again' });
  t.same([repeated.statusCode, repeated.json().session_id], [202, accepted.json().session_id]);
  t.equal((await start()).statusCode, 429);
});
