import { readReputation } from '@eloquentpoll/storage';
import t from 'tap';
import { calibrations } from '../../src/discovery/calibrations.ts';
import { pollFigures } from '../../src/discovery/documents/poll-figures.ts';
import { reputations } from '../../src/discovery/reputations.ts';
import { modelsPage } from '../../src/pages/models-page.ts';
import { trustPage } from '../../src/pages/trust/trust-page.ts';
import { build } from '../fixtures/build.ts';
import { plantAgreement, plantAudits } from '../fixtures/planted-audits.ts';

// slow: 4 s

// Said against came true as callers read it: nothing is invented where nothing was audited, JSON and table are one
// snapshot, and every group of polls is its own sum.

t.test('without audits every figure is null or empty, and the page says what is missing', async (t) => {
  const { app } = await build(t);
  const answer = await app.inject({ url: '/api/calibration' });
  t.equal(answer.headers['cache-control'], 'public, max-age=300');
  const { generated_at, cache_expires_at, accuracy, ...figures } = answer.json();
  t.equal(Date.parse(cache_expires_at) - Date.parse(generated_at), 300_000);
  const nothing = { polls: 0, said: null, came_true: null, low: null, high: null, wrong: 0, allowed: 0 };
  t.same(figures, {
    ...{ simulated: true, confidence_threshold: 0.95, since: null, audits: 0, drawn: 0, unmade: 0, bands: [] },
    stops: { ...nothing, evidence_kept: 1, evidence_broken: 1 },
    ...{ presets: [], orders: [], months: [], versions: [], agreement: null },
  });
  const [{ since, ...said }] = accuracy;
  t.same(said, { source: 'feedback', days: 30, judged: 0, right: 0, accounts: 0, share: null, low: null, high: null });
  t.ok(Date.now() - Date.parse(since) >= 30 * 86_400_000);
  const { body: page } = await app.inject({ url: '/trust' });
  t.match(page, 'No audits yet: confidence comes from the exact calculation alone.');
  t.match(page, 'No caller has reported yet whether an outcome');
  t.match(page, 'If audits are switched on, some polls are drawn', 'it makes none, and does not say that it does');
  t.notMatch(page, /NaN|undefined|null%/);
  const model = (await app.inject({ url: '/models/no-such-model', headers: { accept: 'application/json' } })).json();
  t.equal(model.code, 'not_found');
});

t.test('figures are sums of audited polls, by panel, month and version, with evidence', async (t) => {
  const gateway = await build(t);
  const { app, context } = gateway;
  await plantAudits(gateway, { polls: 300, wrongEvery: 60 });
  await plantAudits(gateway, { polls: 100, wrongEvery: 5, panel: 'fast', monthsAgo: 1 });
  await gateway.asOwner(
    "update audit_months set unmade = 30 where roster_version = (select version from roster_versions where panel_name = 'broad')",
  );
  const broad = context.panels.panel('broad').models.map(({ id }) => id);
  await plantAgreement(gateway, broad);
  const all = (await app.inject({ url: '/api/calibration' })).json();
  t.match(all, {
    ...{ audits: 400, drawn: 430, unmade: 30 },
    stops: { polls: 400, wrong: 25, came_true: 0.9375, said: 0.968, allowed: 20 },
    presets: [
      { preset: 'broad', audits: 300, stops: { polls: 300, wrong: 5, allowed: 15 } },
      { preset: 'fast', audits: 100, drawn: 100, unmade: 0, stops: { polls: 100, wrong: 20, allowed: 5 } },
    ],
    orders: [{ order: 'shuffled', audits: 400 }],
    months: [{ audits: 300 }, { audits: 100 }],
    versions: [
      { preset: 'fast', current: true },
      { preset: 'broad', current: true, search: false, models: broad, few_options: null },
    ],
  });
  const [ofBroad, ofFast] = all.presets;
  t.ok(ofBroad.stops.evidence_kept > 20 && ofBroad.stops.evidence_broken < 1, 'five of 300 where 15 are allowed');
  t.ok(ofFast.stops.evidence_broken > 20, 'twenty of 100 where 5 are allowed');
  t.ok(all.stops.low < 0.9375 && all.stops.high > 0.9375);
  t.equal(all.since, all.months[1].month);
  t.match(ofBroad.bands, [
    { from: 0.5, to: 0.8, polls: 300, pooled: true },
    { from: 0.8, to: 0.95, polls: 300, pooled: true },
    { from: 0.95, to: 1, polls: 300, pooled: false, came_true: 0.9833 },
  ]);
  t.equal(all.agreement.panels.find(({ preset }: { preset: string }) => preset === 'broad').models, broad.length);
  t.ok(
    all.agreement.panels.find(({ preset }: { preset: string }) => preset === 'broad').effective_votes < broad.length,
  );

  const table = await app.inject({ url: '/api/calibration.csv' });
  t.match(table.headers['content-type'], 'text/csv');
  t.equal((await app.inject({ url: '/api/calibration', headers: { accept: 'text/csv' } })).body, table.body);
  const [head, first, ...lines] = table.body.trimEnd().split('\r\n');
  const columns = head!.split(',').length;
  t.ok(lines.every((line) => line.split(',').length === columns));
  t.match(first, /^all,,true,stops,,,,400,0.968,0.9375,/);
  t.ok(lines.some((line) => line.startsWith('preset,fast,true,stops,,,,100,')));

  const { body: page } = await app.inject({ url: '/trust' });
  t.match(
    page,
    'their confidence was 97% on average. The full panel elected the same winner in 94% of 400 audited polls.',
  );
  t.match(page, `broad: ${broad.length} models that count like`);
  t.match(page, '30 of 430 drawn polls could not be audited');
  t.match(page, 'These models are simulated');

  const path = `/models/${broad[0]!.replace(/[^\w.-]/g, '-')}`;
  const model = (await app.inject({ url: path })).body;
  t.match(model, 'Estimated to vote for the right option in 71% of questions');
  t.match(model, broad[1]);
  t.equal((await app.inject({ url: `/models/${encodeURIComponent(broad[0]!)}` })).body, model, 'by its id, too');
  t.match((await app.inject({ url: `${path}.md` })).headers['content-type'], 'text/markdown');
  const missing = await app.inject({ url: '/models/no-such-model', headers: { accept: 'text/html' } });
  t.equal(missing.statusCode, 404);
  t.match(missing.body, 'No such page');
});

t.test('a panel that is asked with web search is a version of its own, and asked now like that without', async (t) => {
  const gateway = await build(t);
  await plantAudits(gateway, { polls: 3, wrongEvery: 9, search: true });
  await plantAudits(gateway, { polls: 3, wrongEvery: 9 });
  const { versions } = (await gateway.app.inject({ url: '/api/calibration' })).json();
  t.same(
    versions.map(({ preset, search, current }: Record<string, unknown>) => ({ preset, search, current })),
    [
      { preset: 'broad', search: false, current: true },
      { preset: 'broad', search: true, current: true },
    ],
  );
  t.match((await gateway.app.inject({ url: '/trust' })).body, /asked now<\/span><br>\n<[^>]+>broad with web search,/);
});

t.test('where more polls were run than are looked at, figures say since when', async (t) => {
  const { app, context } = await build(t);
  const from = new Date('2026-11-20T10:20:30.000Z');
  const busy = { from, to: new Date('2026-11-20T18:00:00.000Z') };
  const found = { ...(await readReputation(context.storage, { simulated: true })), ...busy };
  const record = {
    ...{ modelId: context.panels.models()[0]!.id, asked: 9, votes: 9, averageLatencyMs: 1, p95LatencyMs: 1 },
    ...{ averageCostU: 1, judged: 9, agreed: 9, lastVoteAt: from },
  };
  const feedback = { total: 3, correct: 2, incorrect: 1, accounts: 2, rightAccounts: 1 };
  const lists = { ...context.lists, ofAll: async () => ({ ...found, feedback, models: [record] }) as never };
  const snapshot = reputations({ ...context, lists });
  const { window, rows } = (await snapshot()).value;
  t.same(window, { from, days: 30, isWhole: false });
  const { calibration } = (await calibrations(context, snapshot)()).value;
  const accuracy = { since: from.toISOString(), judged: 3, right: 2, accounts: 2 };
  t.match(calibration.accuracy, [{ ...accuracy, share: 0.5, low: 0.0126, high: 0.9874 }], 'each account counts once');
  const since = 'since 2026-11-20 10:20 UTC';
  const facts = { ...context, baseUrl: context.config.baseUrl, figures: await pollFigures(context) };
  t.match(trustPage(facts, calibration, window), `for 3 outcomes of their own polls ${since} whether they were right`);
  t.match(modelsPage(facts, { rows, window }, new Map(), {}), `its record in polls ${since}.`);
  for (const path of ['/trust', '/models', `/models/${encodeURIComponent(record.modelId)}`])
    t.match((await app.inject({ url: path })).body, 'of the last 30 days', path);
});
