import { PRESETS } from '@eloquentpoll/contracts';
import { shareInterval } from '@eloquentpoll/evidence';
import t from 'tap';
import { SURFACES } from '../../src/discovery/documents/surfaces.ts';
import { usd } from '../../src/pages/figures.ts';
import { openSite } from '../fixtures/open-site.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

// What people read about models, prices and ways in, in a real browser with and without scripts. Every figure is one
// that the API answers.

const site = await openSite(t);
const { app, context } = site;
const { panels } = context;
// Before anybody looks, because records are counted once in five minutes.
await standInWorker(t, context, { opinion: (seat) => (seat === 2 ? null : 0) });
await app.inject({
  method: 'POST',
  url: '/api/poll',
  headers: (await site.keyWith(5)).bearer,
  payload: { question: 'Which of the two is it?', options: ['This', 'That'] },
});
const get = async (url: string) => (await app.inject({ url })).json();

t.test('[§4.7-page-models] every model is listed with its panels and prices, and found by filters', async (t) => {
  for (const javaScriptEnabled of [true, false]) {
    const page = await site.open('/models', { javaScriptEnabled });
    const rows = page.locator('tbody tr:visible');
    t.equal(await rows.count(), panels.models().length);
    const expected = (holds: (id: string) => boolean) =>
      panels
        .models()
        .map(({ id }) => id)
        .filter(holds)
        .sort();
    const shown = async () => (await rows.locator('th .mono').allTextContents()).sort();
    const choose = async (label: string, value: string) => {
      await page.getByLabel(label).selectOption(value);
      if (!javaScriptEnabled) await page.getByRole('button', { name: 'Show' }).click();
    };
    await choose('Panel', 'strong');
    const strong = panels.panel('strong').models;
    t.same(
      await shown(),
      expected((id) => strong.some((model) => model.id === id)),
    );
    await choose('Capability', 'open_weight');
    const open = strong.filter(({ openWeight }) => openWeight);
    t.same(
      await shown(),
      expected((id) => open.some((model) => model.id === id)),
    );
    t.match(await page.getByRole('status').textContent(), `${open.length} of ${panels.models().length} models`);
    t.match(page.url(), /preset=strong&capability=open_weight/, 'an address that can be handed on');
    await page.reload();
    t.equal((await shown()).length, open.length);
    await choose('Vendor', panels.models().find(({ openWeight }) => !openWeight)!.family);
    await page.getByText('No model matches these filters.').waitFor();
    await page.context().close();
  }
});

t.test('[§4.7-page-models, §4.7-reputation-models] records are those of the API', async (t) => {
  const { models } = await get('/api/reputation/models');
  t.equal(models.length, 9);
  const page = await site.open('/models');
  for (const { model_id, ballots, votes, success_rate } of models) {
    const cells = await page.getByRole('row', { name: model_id }).locator('td.number').allTextContents();
    t.equal(cells[2], String(ballots), model_id);
    const { low, high } = shareInterval(votes, ballots);
    const rounded = (share: number) => `${(100 * share).toFixed(0)}%`;
    t.equal(cells[3], `${rounded(success_rate)}${rounded(low)} to ${rounded(high)}n\u202f=\u202f${ballots}`, model_id);
  }
});

t.test('[§4.7-page-models] columns sort by their links, without scripts, and keep the filters', async (t) => {
  const page = await site.open('/models?preset=broad', { javaScriptEnabled: false });
  const prices = async () =>
    (await page.locator('tbody tr:visible td.number:nth-of-type(4)').allTextContents()).map((text) =>
      Number(text.slice(1)),
    );
  const before = (await prices()).length;
  await page.getByRole('link', { name: 'Output $/M' }).click();
  const rising = await prices();
  t.equal(rising.length, before);
  t.same(
    rising,
    rising.toSorted((a, b) => a - b),
  );
  t.equal(await page.locator('th[aria-sort="ascending"]').textContent(), 'Output $/M');
  await page.getByRole('link', { name: 'Output $/M' }).click();
  t.same(await prices(), rising.toReversed());
  t.match(page.url(), /sort=-output&preset=broad/);
  await page.getByLabel('Panel').selectOption('strong');
  await page.getByRole('button', { name: 'Show' }).click();
  t.match(page.url(), /preset=strong.*sort=-output/);
  const body = async (url: string) => (await app.inject({ url })).body;
  t.equal(await body('/models?sort=nonsense'), await body('/models'), 'an unknown column counts as nothing');
});

t.test('[§4.7-page-pricing] prices are those of the estimate', async (t) => {
  const page = await site.open('/pricing', { javaScriptEnabled: false });
  for (const [column, preset] of PRESETS.entries())
    for (const options of [2, 5, 10]) {
      const { cost_usd, models } = await get(`/api/poll/estimate?preset=${preset}&options=${options}`);
      const row = page
        .getByRole('region', { name: /^Prices/ })
        .getByRole('row', { name: new RegExp(`^${options}\\b`) });
      const cells = await row.locator('td').allTextContents();
      const saved = Math.round(100 * (1 - models.expected_calls / models.roster_size));
      t.equal(cells[3 * column], usd(cost_usd.expected), `${preset}, ${options}`);
      t.equal(cells[3 * column + 2], `${saved}%`);
    }
  await page.getByLabel('Panel', { exact: true }).selectOption('fast');
  await page.getByLabel('Options', { exact: true }).selectOption('7');
  await page.getByLabel('Confidence threshold').fill('0.8');
  await page.getByRole('button', { name: 'Calculate' }).click();
  const asked = await get('/api/poll/estimate?preset=fast&options=7&confidence_threshold=0.8');
  t.equal(await page.locator('.stats dd').first().textContent(), usd(asked.cost_usd.expected));
  t.equal(await page.getByRole('region', { name: 'Votes of a fast poll' }).locator('tbody tr').count(), 6);
  t.equal(await page.getByRole('img', { name: /^Expected cost of a/ }).count(), PRESETS.length);

  const standard = (await app.inject({ url: '/pricing' })).body;
  for (const odd of ['?options=1', '?options=2.5', '?preset=best', '?confidence_threshold=7', '?options=', '?x=1'])
    t.equal((await app.inject({ url: `/pricing${odd}` })).body, standard, `${odd} counts as nothing`);
});

t.test('[§4.7-page-surfaces] every way in, and only those that were asked for', async (t) => {
  const page = await site.open('/surfaces', { javaScriptEnabled: false });
  t.same(
    (await page.locator('article').evaluateAll((cards) => cards.map(({ id }) => id))).sort(),
    SURFACES.map(({ pattern_id }) => pattern_id).sort(),
  );
  await page.getByLabel('For', { exact: true }).selectOption('human');
  await page.getByLabel('Maturity').selectOption('standard');
  await page.getByRole('button', { name: 'Show' }).click();
  const matching = SURFACES.filter(
    ({ category, user_types }) => category === 'standard' && user_types.includes('human'),
  );
  t.equal(await page.locator('article').count(), matching.length);
});
