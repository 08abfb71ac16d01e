import type { BatchReport, PanelName, Timing } from '@eloquentpoll/contracts';
import type { GoldPoll } from '@eloquentpoll/evidence';
import { pollResponse, pollState } from '@eloquentpoll/polls';
import { conclude, newPoll, received, seededRandom, stopReason } from '@eloquentpoll/voting';
import t from 'tap';
import { buildReport } from '../../src/batches/report/build-report.ts';
import { countedRow } from '../../src/batches/report/gold-poll-of.ts';
import { addJudged, askedTheSame, noRows } from '../../src/batches/report/report-sums.ts';
import { panelSections } from '../../src/pages/dashboard/report/panel-section.ts';
import { worthPlot } from '../../src/pages/dashboard/report/worth-plot.ts';
import { madeUpSpec } from '../fixtures/made-up-result.ts';
import { voteFor } from '../fixtures/stand-in-worker.ts';

const MODELS = [...'abcdefg'];

/** Asked one after the other, a vote for 10,000 micro-USD each, until the rules stop. The right answer is 0. */
function poll(votes: string, threshold: number, priceU = 10_000): GoldPoll {
  const rules = { optionCount: 4, threshold, minVotes: 3, maxCostU: 0n, hedge: 'one' as const };
  const seats = MODELS.map((model) => ({ model, family: model, reserveU: 0n, failureRate: 0, typicalCost: priceU }));
  const heard: GoldPoll['votes'][number][] = [];
  let state = newPoll(rules, seats);
  let reason: GoldPoll['reason'] = null;
  for (let seat = 0; reason === null; seat++) {
    const vote = { seat, option: Number(votes[seat]), billedU: 0n };
    heard.push({ ...vote, cost: priceU });
    state = received(state, vote);
    reason = stopReason(state);
  }
  const { confidence } = conclude(state, { reason });
  return { rules, seats, votes: heard, reason, confidence, hasCourse: true, answer: 0 };
}

/** Each panel is asked the rows from 0 on, unless they begin elsewhere. */
type Rows = readonly (readonly [panel: PanelName, count: number, poll: GoldPoll, firstRow?: number])[];

async function reportOf(rows: Rows): Promise<BatchReport> {
  const sums = noRows();
  const asked: Partial<Record<PanelName, number>> = {};
  for (const [panel, count, poll, firstRow] of rows)
    for (let i = 0; i < count; i++) {
      const rowHash = firstRow === undefined ? (asked[panel] ?? 0) : firstRow + i;
      asked[panel] = rowHash + 1;
      addJudged(sums, { spec: { panel_name: panel, simulated: false }, poll, rowHash });
    }
  const counted = sums.all.stops.polls;
  return buildReport(sums, { batchId: 'pb_1', total: counted, counted, countedAt: new Date(0), isComplete: true });
}

const recommendationOf = async (...rows: Rows) => {
  const { kind, preset, confidence_threshold, cost_saved, sentences } = (await reportOf(rows)).recommendation;
  return { kind, preset, confidence_threshold, cost_saved, text: sentences.join('\n') };
};

t.test('in the picture of a report no name stands on the figures of the axis', async (t) => {
  const nameIn = async (votes: string) => {
    const { panels } = await reportOf([['broad', 2, poll(votes, 1)]]);
    return /class="named" x="[^"]+" y="([^"]+)" dx="([^"]+)" dy="([^"]+)"[^>]*>as asked</.exec(
      String(worthPlot(panels[0]!)),
    )!;
  };
  const [, wrong, aside, up] = await nameIn('1111111');
  t.match([wrong, aside, up], ['286.0', /^-?12$/, '-6'], 'an interval that reaches the axis has its name beside it');
  const [, right, , down] = await nameIn('0000000');
  t.ok(Number(right) + Number(down) <= 286);
});

t.test('few rows: nothing is recommended', async (t) => {
  const few = await recommendationOf(['broad', 99, poll('0000000', 1)]);
  t.match(few, { kind: 'more_rows', preset: null, confidence_threshold: null });
  t.match(
    few.text,
    /^99 rows with a right answer are too few to choose by: ask 100 at least .* broad was right in 100\.0%/,
  );
  t.match((await recommendationOf()).text, /^0 rows with a right answer are too few/);
  const split = await recommendationOf(['broad', 60, poll('0000000', 1)], ['fast', 60, poll('0000000', 1)]);
  t.equal(split.kind, 'more_rows', 'each preset needs enough');
});

t.test('a cheaper threshold that was right as often is recommended, with what that is known from', async (t) => {
  const cheaper = await recommendationOf(['broad', 400, poll('0000000', 1)], ['broad', 100, poll('1101111', 1)]);
  t.match(cheaper, { kind: 'change', preset: 'broad', confidence_threshold: 0.6, cost_saved: 0.2857 });
  t.match(
    cheaper.text,
    /^With a threshold of 0\.6, broad would have cost \d+% less and been right in 80\.0% \(95% interval 76\.\d% to 83\.\d%\) instead of 80\.0%: a difference of 0\.0 points, 95% interval -0\.\d points to 0\.\d points\./,
  );
  t.match(cheaper.text, /expect a little less on new ones/);
});

t.test('where cheaper ones may be right less often, the threshold is kept, and the risk is said', async (t) => {
  const rows: Rows = [
    ['broad', 130, poll('0000000', 1)],
    ['broad', 10, poll('1110000', 1)],
  ];
  const kept = await recommendationOf(...rows);
  t.match(kept, { kind: 'keep', preset: 'broad', confidence_threshold: 1, cost_saved: 0 });
  t.match(
    kept.text,
    /^Keep broad with its threshold of 1: it was right in 100\.0%.* may be right up to 1\d\.\d points less often/,
  );
  const { panels } = await reportOf(rows);
  t.match(panels[0]!.thresholds[1], {
    wrong_stops: { wrong: 10, judged: 140, of: 140 },
    difference: { lost: 10, gained: 0 },
  });
});

t.test('what had stopped before is not replayed, and how to learn it is said', async (t) => {
  const { text } = await recommendationOf(['broad', 200, poll('0000000', 0.9)]);
  t.match(text, /Nothing is known about broad with a threshold of \S+ or more: 200 polls had stopped before/);
  t.match(text, /Run the same rows with a threshold of 1/);
});

t.test('a poll without arrivals has no order of its votes, whatever its panel', async (t) => {
  const spec = madeUpSpec({}, 3);
  const votes = spec.seats.map((_, seat) => voteFor(spec, seat, 1));
  const reason = 'roster_exhausted' as const;
  const times = { gatherMs: 1, totalMs: 1, arrivals: [] };
  const response = pollResponse({ resultId: 'EP', spec, state: pollState(spec, votes), reason, votes, ...times });
  const hasCourse = (arrivals: NonNullable<Timing['arrivals']>) => {
    const end = { reason, confidence: response.confidence, asking: null, votesU: null };
    const poll = { spec, votes: response.votes, arrivals, ...end };
    const row = countedRow({
      line: 1,
      gold: spec.options[1]!,
      outcome: 'success',
      isCanceled: false,
      isDeleted: false,
      rowHash: 1,
      poll,
    });
    return row.kind === 'judged' && row.poll.hasCourse;
  };
  t.equal(hasCourse(votes.map(() => ({ at_ms: 1, confidence: null }))), true);
  t.equal(hasCourse([]), false);
});

t.test('polls whose votes have no known order: a few are left out, and each comparison is without them', async (t) => {
  const unordered = { ...poll('1101111', 1), hasCourse: false };
  const ordered: Rows = [
    ['broad', 400, poll('0000000', 1)],
    ['broad', 100, poll('1101111', 1)],
  ];
  const few: Rows = [...ordered, ['broad', 5, unordered]];
  const [without, withFew] = [await recommendationOf(...ordered), await recommendationOf(...few)];
  t.match(withFew, { kind: 'change', confidence_threshold: 0.6, cost_saved: without.cost_saved });
  t.equal(withFew.text.split('\n')[0], without.text.split('\n')[0], 'with the same figures');
  t.match(
    withFew.text,
    /The comparison of other thresholds leaves out some polls: 5 polls moved to another worker while running/,
  );
  const [panel] = (await reportOf(few)).panels;
  const [plain] = (await reportOf(ordered)).panels;
  t.match(panel, { polls: 505, order_unknown: 5 });
  t.notOk('order_unknown' in plain!);
  const [asAsked, ...replayed] = panel!.thresholds;
  t.equal(asAsked!.accuracy!.of, 505);
  const { accuracy, cost_usd } = plain!;
  t.same(
    replayed,
    plain!.thresholds.slice(1).map((one) => ({ ...one, as_asked: { accuracy, cost_usd } })),
  );
  t.match(String(panelSections([panel!])), /Other thresholds are without 5 of 505 polls: another worker took over/);
});

t.test(
  'more than one poll in a hundred without a known order: other thresholds are not known, for that reason',
  async (t) => {
    const report = await reportOf([
      ['broad', 200, poll('0000000', 1)],
      ['broad', 3, { ...poll('0000000', 1), hasCourse: false }],
    ]);
    const [panel] = report.panels;
    const [asAsked, ...replayed] = panel!.thresholds;
    t.equal(asAsked!.accuracy!.of, 203);
    t.ok(replayed.every(({ unknown, accuracy, as_asked }) => unknown === 0 && accuracy === null && !as_asked));
    const text = report.recommendation.sentences.join('\n');
    t.match(text, /Nothing is known about broad with other thresholds: 3 polls moved to another worker while running/);
    t.notMatch(text, /stopped before/);
    const page = String(panelSections([panel!]));
    t.match(page, /Not known: the order of the votes of 3 of 203 polls is not known\./);
    t.match(page, /Not known: 3 polls moved to another worker while running/);
    t.notMatch(page, /stopped before/);
  },
);

t.test('presets: the cheapest that is shown to be as right as the best', async (t) => {
  const rowsOf = (broadRight: number, strongRight: number, of: number): Rows => [
    ['broad', broadRight, poll('0000000', 1)],
    ['broad', of - broadRight, poll('1111111', 1)],
    ['strong', strongRight, poll('0000000', 1, 90_000)],
    ['strong', of - strongRight, poll('1111111', 1, 90_000)],
    ['fast', 0.6 * of, poll('0000000', 1, 1_000)],
    ['fast', 0.4 * of, poll('1111111', 1, 1_000)],
  ];
  const chosen = await recommendationOf(...rowsOf(1_970, 1_974, 2_000));
  t.match(chosen, { kind: 'change', preset: 'broad' });
  t.match(chosen.text, /^Right answers: .*strong in 98\.7% .* for \$0\.\d+ a poll/);
  t.match(
    chosen.text,
    /broad cost 89% less a poll than strong: a difference of -0\.2 points, 95% interval -\d\.\d points to 0\.\d points\./,
  );
  const few = await recommendationOf(...rowsOf(190, 195, 200));
  t.match(few, { preset: 'strong' }, 'the intervals overlap, which does not show that both are as right');
  t.match(
    few.text,
    /No preset was right more often than strong\.\nfast cost 99% less a poll than strong, but may be right up to 4\d\.\d points less often/,
  );
  const equal = await recommendationOf(...rowsOf(190, 190, 200));
  t.match(equal, { kind: 'change', preset: 'broad' }, 'of two that were right as often the cheaper one');
});

t.test('a preset that is right seven points less often is seldom recommended', async (t) => {
  const draw = seededRandom('presets');
  const right = (of: number, chance: number) =>
    Array.from({ length: of }, () => draw(1_000) < 1_000 * chance).filter(Boolean).length;
  let chosen = 0;
  for (let world = 0; world < 60; world++) {
    const [strong, fast] = [right(100, 0.9), right(100, 0.83)];
    const { preset } = await recommendationOf(
      ['strong', strong, poll('0000000', 1, 90_000)],
      ['strong', 100 - strong, poll('1111111', 1, 90_000)],
      ['fast', fast, poll('0000000', 1, 1_000)],
      ['fast', 100 - fast, poll('1111111', 1, 1_000)],
    );
    chosen += Number(preset === 'fast');
  }
  t.ok(chosen <= 12, `${chosen} of 60`);
});

t.test('one wrong row of thousands does not round away', async (t) => {
  const report = await reportOf([
    ['broad', 4_000, poll('0000000', 1)],
    ['broad', 1, poll('1111111', 1)],
  ]);
  t.match(report.recommendation.sentences.join(' '), /right in 99\.9% \(95% interval 99\.\d% to 99\.9%\)/);
});

t.test('an agreement that is the same in all polls has an interval all the same', async (t) => {
  const { agreement } = await reportOf([['broad', 20, poll('0000000', 1)]]);
  t.match(agreement, { mean: 1, high: 1 });
  t.ok(agreement.low! > 0.8 && agreement.low! < 0.9, String(agreement.low));
  t.match((await reportOf([['broad', 1, poll('0000000', 1)]])).agreement, { mean: 1, low: null, high: null });
});

t.test('presets that were asked different rows are not compared', async (t) => {
  const easy: Rows = [['fast', 200, poll('0000000', 0.6, 1_000), 1_000]];
  const hard: Rows = [
    ['broad', 150, poll('0000000', 0.6)],
    ['broad', 100, poll('1111111', 0.6)],
  ];
  const chosen = await recommendationOf(...easy, ...hard);
  t.match(chosen, { kind: 'keep', preset: 'broad' });
  t.match(
    chosen.text,
    /^fast was not asked the same rows as broad, so it is not compared with it\. To compare presets,/,
  );
  t.notMatch(chosen.text, /Right answers|cheapest preset|right most often/);
  const asMany: Rows = [['strong', 250, poll('0000000', 0.6, 90_000), 1]];
  t.match((await recommendationOf(...easy, ...hard, ...asMany)).text, /^strong and fast were not asked the same rows/);
  t.match(
    (await recommendationOf(...hard, ['strong', 250, poll('0000000', 0.6)])).text,
    /^Right answers: broad .*; strong in 100/,
  );
});

t.test('presets of which an earlier release counted rows are not compared', async (t) => {
  const row = (panel_name: PanelName) => ({
    spec: { panel_name, simulated: false },
    poll: poll('0000000', 1),
    rowHash: 1,
  });
  const { asked: _, ...begun } = noRows();
  for (const panel of ['broad', 'strong'] as const) addJudged(begun, row(panel));
  t.same([...askedTheSame(begun, 'broad')], ['broad']);
  const sums = noRows();
  for (const panel of ['broad', 'strong'] as const) addJudged(sums, row(panel));
  t.same([...askedTheSame(sums, 'broad')], ['broad', 'strong']);
  for (const panel of ['broad', 'strong'] as const) sums.panels[panel]!.stops.polls += 1;
  t.same([...askedTheSame(sums, 'broad')], ['broad'], 'which rows, it did not note');
});

t.test('presets: where nothing cheaper was as right, what was asked is kept', async (t) => {
  const mostly = await recommendationOf(['broad', 2_000, poll('0000000', 0.6)], ['strong', 3, poll('0000000', 1)]);
  t.match(mostly, { kind: 'keep', preset: 'broad', cost_saved: 0 });
  const cheapIsWrong = await recommendationOf(
    ...([
      ['strong', 195, poll('0000000', 0.6, 90_000)],
      ['strong', 5, poll('1111111', 0.6, 90_000)],
      ['fast', 120, poll('0000000', 0.6, 1_000)],
      ['fast', 80, poll('1111111', 0.6, 1_000)],
    ] as const),
  );
  t.match(cheapIsWrong, { kind: 'keep', preset: 'strong' });
  const cheapIsAsRight = await recommendationOf(
    ['strong', 200, poll('0000000', 0.6, 90_000)],
    ['fast', 200, poll('0000000', 0.6, 1_000)],
  );
  t.match(cheapIsAsRight, { kind: 'change', preset: 'fast', text: /\nUse fast with its threshold of 0\.6: / });
  t.match(
    cheapIsWrong.text,
    /No preset was right more often than strong\.\nfast cost .*\nKeep strong with its threshold of 0\.6/,
  );
});

t.test(
  'a row that was deleted before it was counted has no judgement, and is no row without a right answer',
  async (t) => {
    const row = { line: 1, gold: null, outcome: 'success', isCanceled: false, rowHash: null, poll: null } as const;
    t.same(countedRow({ ...row, isDeleted: true }), { kind: 'not_judged' });
    t.same(countedRow({ ...row, isDeleted: false }), { kind: 'without_gold' });
  },
);

t.test(
  'a single model that was right more often than the panel is named, on the polls in which it was asked',
  async (t) => {
    const { text } = await recommendationOf(['broad', 100, poll('0000000', 1)], ['broad', 60, poll('0111111', 1)]);
    t.match(
      text,
      /a alone was right more often than the panel: 100\.0% \(.*\) against 62\.5%, for \$0\.01 a vote against \$0\.04/,
    );
    t.notMatch((await recommendationOf(['broad', 200, poll('0000000', 1)])).text, /alone/);
  },
);

t.test('every share has its interval, and a few unknown polls do not hide calibration', async (t) => {
  const { accuracy, cost_per_right_usd, panels, rows } = await reportOf([
    ['broad', 150, poll('0100200', 1)],
    ['broad', 50, poll('1101111', 1)],
    ['broad', 1, { ...poll('0000000', 1), reason: null, votes: poll('0000000', 1).votes.slice(0, 2) }],
  ]);
  t.match(rows, { total: 201, judged: 201 });
  t.match(accuracy, { count: 151, of: 201, share: 0.751244 });
  t.ok(accuracy.low! < 0.69 && accuracy.high! > 0.8);
  t.ok(cost_per_right_usd.low! < cost_per_right_usd.mean! && cost_per_right_usd.mean! < cost_per_right_usd.high!);
  t.match(panels[0]!.calibration, { polls: 200, unknown: 1 });
  t.ok(panels[0]!.calibration.error !== null && panels[0]!.calibration.bands.length > 0);
});
