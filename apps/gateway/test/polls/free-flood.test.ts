import { balanceOf, checkLedger, FREE_POOL } from '@eloquentpoll/storage';
import t from 'tap';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import type { PollsContext } from '../../src/polls/context.ts';
import { REFUSALS } from '../../src/polls/run/refusals.ts';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';
import { stored } from '../fixtures/stored.ts';

// slow: 3 s

const BODY = { q: 'Which of these is the best?', o: ['A', 'B'] };
const PROXY = '10.0.0.1';
const ADDRESSES = Number(process.env.FREE_FLOOD_TEST_ADDRESSES ?? 600);
const AT_ONCE = 15;
const CAP_U = 20_000n;
/** What the stand-in's five votes are billed. */
const SPENT_U = 500n;

const refusals = ({ metrics }: Pick<PollsContext, 'metrics'>): Record<string, number> =>
  Object.fromEntries(REFUSALS.map((reason) => [reason, metrics.counter('eloquentpoll_polls_refused_total', reason).n]));

t.test('[§1-way-quick-free] a flood of free polls from everywhere costs the day’s budget at the most', async (t) => {
  const { app, context } = await build(t, {
    trustedProxies: ['10.0.0.0/8'],
    freeDailyCapU: CAP_U,
    rateLimits: readPolicies('free_poll=1000000/3600'),
  });
  await standInWorker(t, context);
  const seen = { most: 0n };
  const look = async () => {
    const balance = await balanceOf(context.storage, FREE_POOL);
    const atStake = balance!.usageU + balance!.heldU;
    if (atStake > seen.most) seen.most = atStake;
  };
  const answers: { status: number; retryAfter: unknown; error: unknown }[] = [];
  let next = 0;
  const flood = async () => {
    while (next < ADDRESSES) {
      const n = next++;
      const headers = { 'x-forwarded-for': `198.${18 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}` };
      const url = n % 2 === 0 ? '/api/quick-poll' : '/api/poll';
      const answer = await app.inject({ method: 'POST', url, headers, payload: BODY, remoteAddress: PROXY });
      answers.push({
        status: answer.statusCode,
        retryAfter: answer.headers['retry-after'],
        error: answer.statusCode === 200 ? answer.json().cost : answer.json().error,
      });
      if (n % 10 === 0) await look();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, flood));

  const ran = answers.filter(({ status }) => status === 200).length;
  const refused = answers.filter(({ status }) => status === 429);
  t.equal(ran + refused.length, ADDRESSES, 'every caller was answered');
  t.ok(ran > 0 && refused.length > 0);
  for (const { retryAfter, error } of refused) {
    t.ok(Number(retryAfter) > 0 && Number(retryAfter) <= 86_400);
    const isHeld = Number(retryAfter) <= 5;
    t.match(error, isHeld ? /is set aside for running ones/ : /the day's budget for free polls is used up/i);
  }
  const held = refused.filter(({ retryAfter }) => Number(retryAfter) <= 5).length;
  t.match(refusals(context), { free_held: held, free_spent: refused.length - held, free_closed: 0, insufficient: 0 });
  const pool = await balanceOf(context.storage, FREE_POOL);
  t.equal(pool?.usageU, BigInt(ran) * SPENT_U, 'what ran was paid by the pool, to the micro-USD');
  t.equal(pool?.heldU, 0n);
  t.equal(pool?.availableU, CAP_U - pool!.usageU);
  t.ok(seen.most <= CAP_U && pool!.usageU <= CAP_U, `at most ${seen.most} of ${CAP_U} was ever at stake`);
  t.match(await stored(context), { polls: ran, results: ran });
  t.same(await checkLedger(context.storage), []);
  t.comment(
    `${ADDRESSES} addresses: ${ran} polls, spent ${pool?.usageU}, at stake at most ${seen.most} of ${CAP_U} µUSD`,
  );
});

t.test('a cap of nothing closes free polls, and leaves nothing behind', async (t) => {
  const { app, context, keyWith } = await build(t, { freeDailyCapU: 0n });
  const { bearer } = await keyWith(10);
  const before = await stored(context);
  for (const headers of [{}, { 'idempotency-key': 'k' }, bearer]) {
    const payload = { ...BODY, theme: 'free' };
    const answer = await app.inject({ method: 'POST', url: '/api/quick-poll', headers, payload });
    t.match([answer.statusCode, answer.json().code], [429, 'rate_limited']);
    t.ok(Number(answer.headers['retry-after']) > 0);
  }
  t.same(await stored(context), before);
  t.match(refusals(context), { free_closed: 3, free_spent: 0, free_held: 0 }, 'closed is not spent, and no alarm');
});
