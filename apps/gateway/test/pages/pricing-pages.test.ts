import { PRESETS } from '@eloquentpoll/contracts';
import { loadPanels } from '@eloquentpoll/models/panels';
import type { TrackRecords } from '@eloquentpoll/storage';
import t from 'tap';
import { OPTION_COUNTS, priceOf, votePrices } from '../../src/pages/price-list.ts';
import { build } from '../fixtures/build.ts';

// slow: 8 s

// A page of prices takes twenty-seven forecasts of a process that has others to serve.

const { app, context } = await build(t);
let lookUps = 0;
const { health } = context;
const { snapshot } = health;
Object.assign(health, {
  snapshot(ids: readonly string[]) {
    lookUps++;
    return snapshot(ids);
  },
});

t.test('asking every model costs the same whichever are asked first, and what is saved is money', async (t) => {
  const panels = loadPanels();
  t.equal(panels.panel('broad').order, 'cheapest');
  const certificate = { audits: 300, isCertified: true, isAlarmed: false };
  const roster = { panelName: 'broad', order: 'cheapest', search: false, simulated: false, models: [] } as const;
  const trackRecords: TrackRecords = {
    of: async (version) => ({
      ...{
        roster: { version, ...roster },
        audits: 600,
        updatedAt: new Date(),
        record: { panelSize: 9, situations: new Map(), isAlarmed: false },
      },
      certificates: { fewOptions: certificate, manyOptions: certificate },
    }),
  };
  // As if every model answered like one of those that are simulated.
  const [health] = (await snapshot([context.panels.models()[0]!.id])).values();
  const healthOf = { snapshot: async (ids: readonly string[]) => new Map(ids.map((id) => [id, health!])) };
  const question = { preset: 'broad', options: 2, threshold: 0.95 } as const;
  const shuffled = await priceOf(
    { ...context, health: healthOf, panels, trackRecords: { of: async () => null } },
    question,
  );
  const cheapest = await priceOf({ ...context, health: healthOf, panels, trackRecords }, question);
  t.ok(cheapest.estimate.cost_usd.expected < shuffled.estimate.cost_usd.expected);
  t.equal(cheapest.wholeUsd, shuffled.wholeUsd);
  for (const { estimate, wholeUsd, saving } of [shuffled, cheapest])
    t.equal(saving, 1 - estimate.cost_usd.expected / wholeUsd);
});

t.test('GET /pricing draws from the budget of what is computed', async (t) => {
  const { headers } = await app.inject({ url: '/pricing' });
  t.equal(headers['ratelimit-policy'], '600;w=60');
});

t.test('a threshold is rounded to a step of the form', async (t) => {
  const pages = new Set<string>();
  for (let percent = 0; percent <= 100; percent++)
    pages.add((await app.inject({ url: `/pricing?confidence_threshold=${percent / 100}` })).body);
  t.equal(pages.size, 21);
});

t.test('every page is computed once, however many are asked for in turn', async (t) => {
  const urls = PRESETS.flatMap((preset) =>
    OPTION_COUNTS.flatMap((options) =>
      Array.from(
        { length: 11 },
        (_, step) => `/pricing?preset=${preset}&options=${options}&confidence_threshold=${step / 10}`,
      ),
    ),
  );
  lookUps = 0;
  // Other networks, because one may not ask for so many in a minute.
  for (const [i, url] of urls.entries()) await app.inject({ url, remoteAddress: `203.0.113.${i % 250}` });
  t.ok(lookUps > 0, 'forecasts are counted');
  lookUps = 0;
  for (const [i, url] of urls.entries())
    t.equal((await app.inject({ url, remoteAddress: `203.0.113.${i % 250}` })).statusCode, 200);
  t.equal(lookUps, 0);
});

t.test('prices of tokens hold the fee that a vote is billed with', async (t) => {
  const panels = loadPanels({ file: 'openrouter' });
  const question = { preset: 'broad', options: 3, threshold: 0.95 } as const;
  const ppm = context.config.pricePpm.broad;
  const [health] = (await snapshot([context.panels.models()[0]!.id])).values();
  const healthOf = { snapshot: async (ids: readonly string[]) => new Map(ids.map((id) => [id, health!])) };
  for (const { modelId, input, output } of await votePrices({ ...context, health: healthOf, panels }, question)) {
    const { price } = panels.model(modelId)!;
    for (const [listed, ours] of [
      [price.input, input],
      [price.output, output],
    ] as const)
      t.ok(Math.abs(Number(ours) - Number(listed) * 1.055 * (ppm / 1e6)) <= 2, modelId);
  }
});
