import { writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import t from 'tap';
import { EXIT } from '../src/cli/exit-codes.ts';
import { run } from '../src/cli/run.ts';
import { rowsIn, used } from './commands.ts';
import { pipes, terminal } from './screen.ts';
import { type Answering, batch, jsonLines, serve, withoutWaiting } from './service.ts';

// `eval`: what it would cost, and its report.

const share = (count: number, of: number) => ({ count, of, share: count / of, low: 0.7, high: 0.9 });
const mean = (value: number) => ({ mean: value, low: null, high: null });
const band = (from: number, to: number, said: number, right: number, of: number) => ({
  from,
  to,
  said,
  right: share(right, of),
});
const FIGURES = {
  polls: 20,
  accuracy: share(16, 20),
  no_answer: 1,
  agreement: mean(0.8),
  cost_usd: 0.5,
  cost_per_right_usd: mean(0.03),
  calls: 80,
  panel_calls: 100,
  calls_saved: 0.2,
  by_confidence: [band(0.9, 0.95, 0.92, 3, 5), band(1, 1, 1, 13, 15)],
  by_agreement: [],
};
const CALIBRATED = { from: 0.8, to: 0.9, polls: 7, said: 0.85, came_true: 0.9, low: 0.7, high: 0.95, pooled: false };
const UNKNOWN = { stopped_early: null, panel_agreement: null, cost_saved: null, cost_per_right_usd: null };
const REPORT = {
  batch_id: 'pb_1',
  complete: true,
  rows: { total: 21, counted: 21, judged: 20, without_gold: 0, not_judged: 1 },
  simulated: true,
  ...FIGURES,
  panels: [
    {
      preset: 'fast',
      confidence_threshold: { min: 0.95, max: 0.95 },
      ...FIGURES,
      order_unknown: 2,
      calibration: { polls: 20, unknown: 0, states: 60, error: 0.031, brier: 0.12, bands: [CALIBRATED] },
      models: [
        {
          model_id: 'sim/a',
          polls: 20,
          asked: 18,
          accuracy: share(14, 18),
          panel_accuracy: share(15, 18),
          difference: { gained: 1, lost: 2, mean: -0.05, low: null, high: null },
          agreement: share(16, 18),
          cost_usd: 0.1,
          cost_per_right_usd: mean(0.007),
        },
      ],
      thresholds: [
        {
          ...UNKNOWN,
          confidence_threshold: null,
          unknown: 0,
          accuracy: share(16, 20),
          cost_usd: 0.5,
          calls_saved: 0.2,
          wrong_stops: { wrong: 1, judged: 8, of: 8, share: 0.125, low: 0, high: 0.5 },
          difference: null,
        },
        {
          ...UNKNOWN,
          confidence_threshold: 0.99,
          unknown: 3,
          accuracy: null,
          cost_usd: null,
          calls_saved: null,
          wrong_stops: null,
          difference: null,
        },
      ],
    },
  ],
  recommendation: { kind: 'keep', preset: null, confidence_threshold: null, cost_saved: null, sentences: ['Keep it.'] },
  counted_at: '2026-11-20T10:10:00.000Z',
};

/** The rows are counted a moment after the batch has ended. */
function judged(): Answering {
  let looks = 0;
  return ({ method, path }, response) => {
    if (path.startsWith('/api/poll/estimate')) return { cost_usd: { min: 0.001, expected: 0.002, max: 0.004 } };
    if (path.endsWith('/report')) return { ...REPORT, complete: ++looks > 1 };
    if (method === 'POST') response.statusCode = 202;
    return batch(3, 3, { has_gold: true });
  };
}

const GOLD = jsonLines(
  [1, 2].map((i) => ({ question: `Which is larger, ${i}?`, options: ['a', 'b', 'c'], gold: 'a' })),
);

t.test('eval says what it would cost, and hands nothing over without a yes', async (t) => {
  const labels: string[] = [];
  const ask = async (label: string) => {
    labels.push(label);
    return 'n';
  };
  const { exit, err, asked } = await used(t, ['eval', rowsIn(t, 'rows.jsonl', GOLD), '--out', '-'], judged(), { ask });
  t.equal(exit, EXIT.usage);
  t.same(labels, ['Run it? [y/N] ']);
  const cost = '2 rows, at the flex price: about $0.004000, $0.008000 if no poll stops early';
  t.equal(err, `${cost}; --max-cost sets a limit\n`);
  t.same(
    asked.map(({ path }) => path),
    ['/api/poll/estimate?options=3&service_tier=flex'],
  );
  const own = rowsIn(t, 'own.jsonl', GOLD.replace('"gold"', '"preset":"strong","gold"'));
  const dear = await used(t, ['eval', own, '--out', '-', '--reasons', '--max-cost', '2'], judged(), { ask });
  t.equal(dear.err, `${cost}; rows with settings of their own may cost more; never more than $2.0000\n`);
  t.equal(dear.asked[0]?.path, '/api/poll/estimate?options=3&reasons=true&service_tier=flex', 'which cost, too');
});

t.test('eval asks about each batch that would be new, whatever an earlier one was', async (t) => {
  const { url, asked } = await serve(t, judged());
  const labels: string[] = [];
  const ask = async (label: string) => {
    labels.push(label);
    return 'n';
  };
  const evaluated = async (...argv: string[]) => {
    const { texts, ...outputs } = pipes();
    const env = { EP_URL: url, EP_KEY: 'ep_k_x' };
    return { exit: await run(['eval', ...argv], terminal({ ...outputs, env, ask })), ...texts };
  };
  const uploads = () => asked.filter(({ method }) => method === 'POST').length;
  const file = rowsIn(t, 'rows.jsonl', GOLD);
  t.match(await evaluated(file, '--detach', '--yes'), { exit: EXIT.winner, out: 'pb_1\n' });
  t.equal(uploads(), 1);
  t.match(
    await evaluated(file, '--detach'),
    { exit: EXIT.winner, err: /were already submitted as pb_1/ },
    'the same is not asked',
  );
  t.equal(labels.length, 0);
  t.equal((await evaluated(file, '--preset', 'fast')).exit, EXIT.usage, 'other terms');
  t.equal((await evaluated(file, '--again')).exit, EXIT.usage, 'once more');
  writeFileSync(file, GOLD.replace('Which', 'What'));
  t.equal((await evaluated(file)).exit, EXIT.usage, 'other rows');
  t.equal(labels.length, 3);
  writeFileSync(file, GOLD.replaceAll('"gold"', '"other"'));
  t.match(await evaluated(file, '--yes'), { exit: EXIT.usage, err: /no right answers/ });
  t.equal(uploads(), 1, 'nothing more was handed over');
});

t.test('eval looks for right answers on standard input too, and says what it would cost', async (t) => {
  const input = () => Readable.from([GOLD.replaceAll('"gold"', '"other"')]);
  const without = await used(t, ['eval', '-', '--format', 'jsonl'], judged(), { input: input() });
  t.match(without, { exit: EXIT.usage, err: /Standard input has no right answers/, asked: { length: 0 } });
  withoutWaiting(t, (ms) => ms === 1_000);
  const given = await used(t, ['eval', '-', '--format', 'jsonl'], judged(), { input: Readable.from([GOLD]) });
  t.match(given, { exit: EXIT.winner, err: /^2 rows, at the flex price: about/ });
});

t.test('eval of a batch that runs without right answers is not waited for', async (t) => {
  const { exit, err, asked } = await used(t, ['eval', 'pb_1'], () => batch(1, 3));
  t.equal(exit, EXIT.usage);
  t.equal(err, 'eloquentpoll: pb_1 has no right answers: add the field gold to its rows.\n');
  t.equal(asked.length, 1);
});

t.test('eval prints the report as tables, or as JSON', async (t) => {
  withoutWaiting(t, (ms) => ms === 1_000);
  const { exit, out } = await used(t, ['eval', rowsIn(t, 'rows.jsonl', GOLD), '--out', '-', '--yes'], judged());
  t.equal(exit, EXIT.winner);
  const bars = /^ {2}\S.*[█┊].*\n/gm;
  t.match(out.match(bars), [
    /^ {2}0\.90 to 0\.95 {2}█+·+┊·+ +60\.0% {2}3 of 5\n$/,
    /^ {2}final +█+·+┊ +86\.7% {2}13 of 15\n$/,
    /^ {2}0\.80 to 0\.90 {2}█+┊█*·* +90\.0% {2}7 polls\n$/,
  ]);
  t.equal(
    out.replace(bars, ''),
    `pb_1 completed: 3 of 3 rows answered
Cost: $0.0300

Accuracy 80.0% (16 of 20 right, 70.0% to 90.0% with 95% confidence)
No answer: 1
1 row without a result
Agreement 80.0% · cost $0.5000 at the flex price, $0.0300 per right answer · calls saved 20.0%
Simulated models: not real figures.

By confidence: stated confidence (┊) and how often the answer was right (█)

Models alone
  model  accuracy     asked  panel on the same  per right answer
  sim/a     77.8%  18 of 20              83.3%         $0.007000

Thresholds, replayed from the votes
  threshold  accuracy     cost  calls saved  wrong stops  against as asked
  as asked      80.0%  $0.5000        20.0%       1 of 8                 -
  0.99              -        -            -            -                 -
  all but the first without 2 polls, for which the order of the votes is not known

Calibration: stated confidence (┊) and how often it came true (█)
  error 3.1%, Brier 0.120, over 20 polls

Keep it.
`,
  );
  t.match(JSON.parse((await used(t, ['eval', 'pb_1', '--json'], judged())).out), { batch_id: 'pb_1', complete: true });
  const none = await used(t, ['eval', 'pb_1'], () => batch(3, 3));
  t.match(none, { exit: EXIT.usage, err: /pb_1 has no right answers: add the field gold to its rows/ });
});

t.test('rows without right answers are refused before they cost', async (t) => {
  for (const [name, text, says] of [
    ['a.csv', 'question,options\n"Which, then?\nSay",a|b\n', /add a column gold/],
    ['b.jsonl', '{"question":"Which is it?"}\n', /add a field "gold" in its rows/],
    ['c.jsonl', '{"gold":"a"}\n[1', /Line 2 is not a JSON object/],
  ] as const) {
    const { exit, err, asked } = await used(t, ['eval', rowsIn(t, name, text)], judged());
    t.equal(exit, EXIT.usage);
    t.match(err, says);
    t.equal(asked.length, 0);
  }
  const csv = rowsIn(
    t,
    'd.csv',
    '\ufeffquestion,options,"gold"\r\n"Which, then?\r\nSay",a|b,a\r\n\r\nWhich one is it?,a|b,b',
  );
  t.match((await used(t, ['eval', csv], judged())).err, /^2 rows, at the flex price: about/);
});
