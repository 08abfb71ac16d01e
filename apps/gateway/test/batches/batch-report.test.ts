import type { BatchReport } from '@eloquentpoll/contracts';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { keepBatchesRunning } from '../../src/batches/run/keep-batches-running.ts';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 6 s

const OPTIONS = ['Lions', 'Herons', 'Newts'];
const PRESETS = ['fast', 'broad'] as const;
const ROWS = 240;

t.test('a batch with right answers is uploaded, run and reported; the page shows the same figures', async (t) => {
  const { app, context, keyWith, sessionFor, asOwner } = await build(t);
  const { accountId, bearer } = await keyWith(100);
  const cookie = await sessionFor(accountId);
  // The first two models of a panel say Lions, the others Herons.
  await standInWorker(t, context, { lane: 'flex', opinion: (seat) => (seat < 2 ? 0 : 1), notesArrivals: true });
  // Both presets are asked the same rows.
  const requests = Array.from({ length: ROWS }, (_, i) => ({
    ...{ question: `Which are best, ${i >> 1}?`, options: OPTIONS, preset: PRESETS[i % 2], confidence_threshold: 1 },
    ...(i < 200 ? { gold: OPTIONS[(i >> 1) % 4 === 0 ? 2 : 1] } : {}),
  }));
  const post = (payload: object) => app.inject({ method: 'POST', url: '/api/batches', headers: bearer, payload });
  const { batch_id: id, report_url } = (await post({ requests })).json();
  t.match(report_url, `/api/batches/${id}/report`);
  const get = (headers: Record<string, string> = bearer) => app.inject({ url: `/api/batches/${id}/report`, headers });
  const early = await get();
  t.equal(early.statusCode, 200);
  t.match(early.json(), { complete: false, rows: { total: ROWS, judged: 0 }, recommendation: { kind: 'more_rows' } });
  t.equal(early.headers['retry-after'], undefined, 'when it ends is not known');

  const runner = keepBatchesRunning(context, 100);
  t.teardown(() => runner[Symbol.asyncDispose]());
  let report: BatchReport = early.json();
  await eventually(
    'the report is complete',
    async () => {
      report = (await get()).json();
      return report.complete;
    },
    90_000,
  );
  t.match(report, {
    ...{ rows: { total: ROWS, counted: ROWS, judged: 200, without_gold: 40, not_judged: 0 }, simulated: true },
    ...{
      accuracy: { count: 150, of: 200, share: 0.75 },
      no_answer: 0,
      recommendation: { kind: 'change', preset: 'fast' },
    },
  });
  t.match(
    report.recommendation.sentences[0],
    /^Right answers: .*fast in 75.0% /,
    'presets with the same rows are compared',
  );
  t.same(report.panels.map(({ preset, polls }) => [preset, polls]).toSorted(), [
    ['broad', 100],
    ['fast', 100],
  ]);
  const [panel] = report.panels;
  t.equal(panel!.calibration.unknown, 0, 'with a threshold of 1 everything is known');
  t.ok(panel!.thresholds.every(({ unknown, accuracy }) => unknown === 0 && accuracy !== null));
  for (const model of panel!.models) t.equal(model.panel_accuracy.of, model.asked, model.model_id);
  t.equal(
    report.cost_usd,
    report.panels.reduce((sum, { cost_usd }) => sum + cost_usd, 0),
  );

  t.same(await asOwner(`select sums, (report ->> 'complete')::boolean as complete from batch_reports`), [
    { sums: null, complete: true },
  ]);
  await asOwner(`update batch_reports set report = jsonb_set(report::jsonb, '{no_answer}', '7')::json`);
  t.equal((await get(cookie)).json().no_answer, 7, 'a finished report is only read');

  const page = await app.inject({ url: `/dashboard/batches/${id}/report`, headers: cookie });
  t.equal(page.statusCode, 200);
  for (const text of ['150 of 200 answers were right: 75.0%', 'By preset', 'Each model alone', 'What follows', '<svg'])
    t.ok(page.body.includes(text), text);
  t.ok(page.body.includes(report.recommendation.sentences.at(-1)!));
  const without = (await post({ requests: [{ question: 'No right answer?', options: OPTIONS }] })).json();
  t.equal(without.report_url, null);
  const none = await app.inject({ url: `/api/batches/${without.batch_id}/report`, headers: bearer });
  t.match([none.statusCode, none.json()], [404, { code: 'report_not_found' }]);
  await app.inject({ method: 'DELETE', url: `/api/batches/${id}`, headers: bearer });
  t.equal((await get()).statusCode, 404);
});
