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
  let isAway = false;
  const asked: number[] = [];
  const notes: string[] = [];
  const found = queueOutlook({
    bus: {
      async queueBacklog(ranks) {
        looks += 1;
        if (isAway) throw new Error('away');
        return { before: ranks.map(fleet.before), active: fleet.active };
      },
    },
    log: { warn: (...noted: unknown[]) => void notes.push(String(noted[1])) },
    now: () => time,
    meanMs: async () => {
      asked.push(time);
      return fleet.meanMs;
    },
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
  /** How many looks are begun within so many milliseconds, when it is asked each time. */
  function looksWithin(...pauses: number[]): number {
    const before = looks;
    for (const pause of pauses) {
      time += pause;
      found.waitMs(0);
    }
    return looks - before;
  }
  const goAway = () => {
    isAway = true;
  };
  /** So much later, with an answer to what is looked at then. */
  async function later(ms: number): Promise<void> {
    time += ms - 1_000;
    await pass(1);
  }
  /** So much later: what is answered before any other look. */
  function maxWaitingAfter(ms: number): number | undefined {
    time += ms;
    return found.maxWaiting(20_000);
  }
  return { found, pass, later, maxWaitingAfter, fleet, looksWithin, goAway, asked, notes };
}

t.test('what may wait follows from the jobs before it, the polls that run, and how long they take', async (t) => {
  // 50 slots and polls of 4 s: 12.5 a second. Ten tenants have 200 waiting each, so rank n is behind 10 n others.
  const { found, pass } = await outlook({ before: (rank) => Math.min(10 * rank, 2_000), active: 50, meanMs: 4_000 });
  t.same([found.maxWaiting(20_000), found.waitMs(1)], [undefined, 0], 'nothing is known yet');
  await pass(3);
  t.equal(found.maxWaiting(20_000), 25, '250 jobs are run in 20 s');
  t.equal(found.maxWaiting(60_000), 75);
  t.equal(found.maxWaiting(200_000), undefined, 'all that wait are run in 160 s');
  t.equal(found.waitMs(32), 25_600);
  t.equal(found.maxWaiting(25_600), 32, 'a poll that starts just in time is taken');
  for (let rank = 1; rank <= 128; rank *= 2) t.equal(found.waitMs(rank), 800 * rank);
  t.same([0, 3, 100].map(found.waitMs), [0, 3_200, 102_400], 'rather too long than too short');
  t.equal(found.waitMs(5_000), 160_000);
});

t.test('up to 1,024 polls of one tenant are told apart', async (t) => {
  const { found, pass } = await outlook({ before: (rank) => rank, active: 50, meanMs: 4_000 });
  await pass(3);
  for (let rank = 1; rank <= 1_024; rank *= 2) t.equal(found.waitMs(rank), 80 * rank);
  for (const rank of [1, 3, 5, 100, 257, 1_000]) t.equal(found.maxWaiting(80 * rank), rank);
});

t.test(
  'one poll that waits for one slot counts; without looks, results or workers the wait is not known',
  async (t) => {
    const { found, pass, fleet } = await outlook({
      before: (rank) => Number(rank === 1_024),
      active: 1,
      meanMs: 4_000,
    });
    await pass(1);
    t.equal(found.waitMs(1_024), 0);
    await pass(2);
    t.same([1, 512, 1_024].map(found.waitMs), [0, 0, 4_000]);
    for (const gone of [{ meanMs: null }, { active: 0 }]) {
      Object.assign(fleet, gone);
      await pass(2);
      t.equal(found.waitMs(1_024), 0, JSON.stringify(gone));
      Object.assign(fleet, { meanMs: 4_000, active: 1 });
    }
    const asked: unknown[] = [];
    const queueBacklog = async (ranks: readonly number[]) => {
      asked.push(ranks);
      return { before: ranks.map(() => 0), active: 0 };
    };
    queueOutlook({ bus: { queueBacklog }, meanMs: async () => null, log: { warn() {} } }).maxWaiting(1);
    t.equal(asked.length, 1, 'by the clock of the process the first look is due');
  },
);

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

t.test('a look is made four times a second where it is asked for, also after one that failed', async (t) => {
  const { found, pass, fleet, looksWithin, goAway, asked, notes } = await outlook({
    ...{ before: (rank) => Math.min(10 * rank, 2_000), active: 50, meanMs: 4_000 },
  });
  await pass(3);
  t.same([looksWithin(249), looksWithin(1), looksWithin(100, 149), looksWithin(1)], [0, 1, 0, 1]);
  fleet.active = 60;
  await pass(1);
  t.equal(found.maxWaiting(20_000), 30, 'a fifth more at once is still steady');
  fleet.before = () => 0;
  await pass(1);
  const before = asked.length;
  await pass(2);
  t.equal(asked.length, before, 'how long polls run is not asked while none waits');
  t.same(notes, []);
  goAway();
  await pass(2);
  t.same(notes, ['queue.outlook_failed', 'queue.outlook_failed']);
});

t.test('what was seen more than five seconds ago refuses nothing', async (t) => {
  const fleet = { before: () => 400, active: 50, meanMs: 4_000 };
  const { pass, later, maxWaitingAfter, goAway } = await outlook(fleet);
  await pass(3);
  await later(5_000);
  t.equal(maxWaitingAfter(0), -1, 'polls that run now are compared with those of five seconds ago');
  await later(5_001);
  t.equal(maxWaitingAfter(0), undefined, 'and not with older ones');
  await pass(1);
  goAway();
  t.equal(maxWaitingAfter(5_000), -1);
  t.equal(maxWaitingAfter(1), undefined);
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
