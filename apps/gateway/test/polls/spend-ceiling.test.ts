import { readProviderSpend } from '@eloquentpoll/storage';
import { withinOne } from '@eloquentpoll/testkit/calendar';
import t from 'tap';
import { pricePpmOf } from '../../src/config/list-prices.ts';
import { percent } from '../../src/pages/figures.ts';
import { build } from '../fixtures/build.ts';
import { stored } from '../fixtures/stored.ts';

const QUESTION = { question: 'Which of the two is larger, by volume?', options: ['Sun', 'Moon'] };
const FREE = { method: 'POST', url: '/api/quick-poll', payload: QUESTION } as const;

t.test('at the ceiling of provider spend free polls are refused first, then all', async (t) => {
  // A free poll can cost about 0.006 USD, a fast one about as much: two fit, and the share of free polls is one.
  await withinOne('hour');
  const providerSpend = { hourU: 16_000n, dayU: null, freeShare: 0.5 };
  const { app, context, keyWith } = await build(t, { providerSpend });
  const { bearer } = await keyWith(10);
  const session = {
    method: 'POST',
    url: '/api/polls',
    headers: bearer,
    payload: { ...QUESTION, preset: 'fast' },
  } as const;

  t.equal((await app.inject(session)).statusCode, 202);
  const free = await app.inject(FREE);
  t.match(free.json(), { code: 'provider_budget_reached', error: /free polls/ });
  t.equal(free.statusCode, 503);
  t.ok(
    Number(free.headers['retry-after']) >= 1 && Number(free.headers['retry-after']) <= 5,
    'the first one still runs',
  );
  t.equal((await app.inject(session)).statusCode, 202, 'paid polls go on');

  const answers = [await app.inject(session), await app.inject(session)];
  const refused = answers.at(-1)!;
  t.equal(refused.statusCode, 503);
  t.equal(refused.json().code, 'provider_budget_reached');
  t.match(await stored(context), { polls: answers[0]!.statusCode === 202 ? 3 : 2, results: 0 });
});

t.test('a poll sets aside no model that its own limit never lets it ask', async (t) => {
  // Fifteen models with a question of 60 KB can cost several dollars; the limit lets the cheapest one be asked.
  await withinOne('hour');
  const providerSpend = { hourU: 20_000_000n, dayU: null, freeShare: 0.5 };
  const { app, context, keyWith } = await build(t, { providerSpend });
  const { bearer } = await keyWith(1);
  const long = {
    question: 'x'.repeat(60_000),
    options: QUESTION.options,
    models: context.panels
      .models()
      .slice(0, 15)
      .map(({ id }) => id),
  };
  const send = (url: string, headers: { authorization: string }, payload: object) =>
    app.inject({ method: 'POST', url, headers, payload });
  const { min_cost_usd } = (await send('/api/poll/dry-run', bearer, long)).json().estimates;
  for (let n = 0; n < 10; n++)
    t.equal((await send('/api/polls', bearer, { ...long, max_cost_usd: min_cost_usd })).statusCode, 202);
  const held = Number((await readProviderSpend(context.storage)).heldU) / 1_000_000;
  t.ok(
    held >= min_cost_usd && held < 20 * min_cost_usd,
    `${held} USD are set aside for 10 polls of ${min_cost_usd} USD`,
  );
  const { bearer: other } = await keyWith(10);
  t.equal((await send('/api/polls', other, { ...QUESTION, preset: 'strong' })).statusCode, 202, 'others go on');
});

t.test('a flex poll that can never fit under the ceiling is refused', async (t) => {
  const { app, context, keyWith } = await build(t, { providerSpend: { hourU: 10_000n, dayU: null, freeShare: 0.5 } });
  const { bearer } = await keyWith(10);
  const send = (max_cost_usd: number) => {
    const payload = { ...QUESTION, preset: 'strong', service_tier: 'flex', max_cost_usd };
    return app.inject({ method: 'POST', url: '/api/polls', headers: bearer, payload });
  };
  const refused = await send(1);
  t.equal(refused.statusCode, 503);
  t.match(refused.json(), { code: 'provider_budget_reached', error: /more than all flex polls may at once/ });
  t.equal((await send(0.0001)).statusCode, 202, 'its limit lets no such models be asked');
  t.match(await stored(context), { polls: 1 });
});

t.test('simulated models have no ceiling unless one is set', async (t) => {
  const { app, keyWith } = await build(t);
  const { bearer } = await keyWith(100_000);
  const payload = { ...QUESTION, preset: 'strong', max_cost_usd: 25 };
  for (let n = 0; n < 5; n++)
    t.equal((await app.inject({ method: 'POST', url: '/api/polls', headers: bearer, payload })).statusCode, 202);
});

t.test('prices carry the margin of their preset, and /pricing says how much', async (t) => {
  const dear = await build(t, {
    pricePpm: { broad: 2_000_000, fast: 1_500_000, strong: 1_000_000, custom: 1_750_000 },
  });
  const plain = await build(t, { pricePpm: { broad: 1_000_000, fast: 1_000_000, strong: 1_000_000 } });
  const expected = async ({ app }: typeof dear, preset: string) =>
    (await app.inject(`/api/poll/estimate?preset=${preset}`)).json().cost_usd.expected as number;
  for (const [preset, factor] of [
    ['broad', 2],
    ['fast', 1.5],
    ['strong', 1],
  ] as const) {
    const ratio = (await expected(dear, preset)) / (await expected(plain, preset));
    t.ok(Math.abs(ratio - factor) < 0.01, `${preset}: ${ratio}`);
  }
  const page = (await dear.app.inject({ url: '/pricing', headers: { accept: 'text/html' } })).body;
  t.match(page, '100% in <code>broad</code> polls, 50% in <code>fast</code> polls, 0% in <code>strong</code> polls');
  const { config } = dear.context;
  for (const service_tier of ['standard', 'flex'] as const) {
    const margin = percent(pricePpmOf(config, { panel_name: 'custom', service_tier }) / 1_000_000 - 1);
    t.match(page, `${margin} in polls with <code>models</code> or a saved <code>panel</code>`, service_tier);
  }
});
