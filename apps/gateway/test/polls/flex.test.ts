import type { PanelName } from '@eloquentpoll/contracts';
import { claimPoll } from '@eloquentpoll/storage';
import t from 'tap';
import { flexPriceOf, pricePpmOf } from '../../src/config/list-prices.ts';
import { build } from '../fixtures/build.ts';

const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B'] };
const FLEX = { ...POLL, service_tier: 'flex' };

t.test('a flex poll waits in a queue of its own for a day, at its own price, and says so', async (t) => {
  const { app, context, keyWith } = await build(t, {
    maxRunningFlexPolls: 2,
    flexPrice: { ppm: 800_000, leastPpm: 1_000_000 },
  });
  const { bearer } = await keyWith(100);
  const post = (url: string, payload: object, headers: object = {}) =>
    app.inject({ method: 'POST', url, headers: { ...bearer, ...headers }, payload });
  const answer = await post('/api/polls', FLEX, { 'idempotency-key': 'one' });
  t.equal(answer.statusCode, 202);
  const { session_id: id, service_tier } = answer.json();
  t.equal(service_tier, 'flex');
  t.notOk((await post('/api/polls', { ...POLL, service_tier: 'standard' })).json().service_tier);
  t.match(await context.bus.queueCounts('flex'), { waiting: 1 });
  const { polls } = (await app.inject({ url: '/api/polls', headers: bearer })).json();
  t.ok(polls.some((poll: { service_tier: string }) => poll.service_tier === 'flex'));
  t.match(await context.bus.queueCounts('standard'), { waiting: 1 });
  const again = await post('/api/polls', POLL, { 'idempotency-key': 'one' });
  t.match([again.statusCode, again.json().code], [422, 'idempotency_key_reused'], 'it is another request');
  const claim = (await claimPoll(context.storage, id, 'worker'))!;
  t.equal(claim.deadlineAt.getTime() - claim.createdAt.getTime(), 86_400_000);
  t.equal(claim.spec.price_ppm, 1_200_000, '80 % of 1.5');
  t.ok(claim.remainingMs <= 120_000);
  t.equal((await post('/api/polls', FLEX)).statusCode, 202);
  t.match((await post('/api/polls', FLEX)).json(), { code: 'too_many_running' });
  t.equal((await post('/api/polls', POLL)).statusCode, 202, 'standard polls have their own limit');
});

t.test(
  'its price is a share of the list price, and never below what providers charge with the fee of a payment',
  async (t) => {
    const pricePpm = { broad: 1_500_000, fast: 2_000_000, strong: 1_050_000 };
    const flexPrice = flexPriceOf(700_000, 0.059);
    const of = (panel_name: PanelName) => pricePpmOf({ pricePpm, flexPrice }, { panel_name, service_tier: 'flex' });
    t.same(
      (['broad', 'custom', 'fast', 'strong', 'free'] as const).map(of),
      [1_062_700, 1_062_700, 1_400_000, 1_050_000, 1_000_000],
    );
  },
);

t.test('estimates and dry runs know its price', async (t) => {
  const { app, keyWith } = await build(t, { flexPrice: { ppm: 500_000, leastPpm: 1_100_000 } });
  const { bearer } = await keyWith(100);
  const costOf = async (tier: string): Promise<number> => {
    const answer = await app.inject({ url: `/api/poll/estimate?preset=broad&service_tier=${tier}` });
    t.equal(answer.statusCode, 200);
    return answer.json().cost_usd.max;
  };
  t.ok((await costOf('flex')) < (await costOf('standard')));
  const dryRun = async (payload: object) =>
    (await app.inject({ method: 'POST', url: '/api/poll/dry-run', headers: bearer, payload })).json();
  const [flex, standard] = [await dryRun(FLEX), await dryRun(POLL)];
  t.ok(flex.valid && flex.estimates.cost_usd.max < standard.estimates.cost_usd.max);
  t.match(await dryRun({ ...POLL, service_tier: 'cheap' }), { valid: false, issues: [{ pointer: '#/service_tier' }] });
});

t.test('where an answer is waited for, flex is refused by name before anything is charged', async (t) => {
  const { app, keyWith } = await build(t);
  const { bearer } = await keyWith(100);
  for (const [url, payload] of [
    ['/api/poll', FLEX],
    ['/api/poll/stream', FLEX],
    ['/api/quick-poll', FLEX],
  ] as const) {
    const answer = await app.inject({ method: 'POST', url, headers: bearer, payload });
    t.equal(answer.statusCode, 400, url);
    t.match(answer.json().error, /service_tier/);
  }
});
