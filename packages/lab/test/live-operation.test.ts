import t from 'tap';
import { liveOperation, type Phase } from '../src/replay/live-operation.ts';
import { livePhases } from '../src/replay/live-phases.ts';
import { liveReport } from '../src/replay/live-report.ts';
import { FIVE, votesOf } from './recorded-votes.ts';

const PRICES = new Map(FIVE.map((model, i) => [model, 16 / 2 ** i] as const));
const panel = { name: 'five', models: FIVE };
/** The panel agrees on what the cheap ones say, most of the time. */
const file = votesOf(
  FIVE,
  Array.from({ length: 80 }, (_, i) => ['BBBBB', 'CCCCC', 'DDDDB', 'BBBBC', 'CCDDC'][i % 5]!),
);
const steady: Phase = { name: 'steady', polls: 4_000, badModels: 0, field: () => true, rebuilt: true };

t.test(
  'the gate opens by audits, two cheap models that turn bad cannot stop a poll, a new version begins afresh',
  async (t) => {
    const bad = { ...steady, name: 'bad', polls: 6_000, badModels: 2, rebuilt: false };
    const [before, during, after] = liveOperation(
      file,
      panel,
      PRICES,
      [steady, bad, { ...steady, name: 'mended' }],
      'test',
    );
    t.ok(before!.openedAfter! >= 1_000, `300 audits at one in five: ${before!.openedAfter}`);
    t.ok(before!.cheapest > 0.4 && before!.wrongStops < 0.05 && before!.alarmedAfter === null);
    t.ok(before!.audits >= 500 && before!.audits < 800, `${before!.audits} audits: fewer once there are 500`);
    t.ok(during!.wrongStops < 0.05, 'three votes are the least, and theirs are two');
    t.ok(during!.dollarsSaved < before!.dollarsSaved, 'they make polls longer');
    t.ok(after!.openedAfter !== null && after!.openedAfter >= 1_000, 'no audit of before counts');
    t.equal(after!.alarmedAfter, null);
    for (const { name, covered, published } of [before!, during!, after!])
      t.ok(covered / published.length >= 0.5, `${name}: ${covered} of ${published.length}`);
    t.match(liveReport([{ name: 'five', phases: [before!, during!] }]), /five +steady +4000/);
  },
);

t.test('the same seed plays the same operation', async (t) => {
  const short = { ...steady, polls: 300 };
  t.same(liveOperation(file, panel, PRICES, [short], 'a'), liveOperation(file, panel, PRICES, [short], 'a'));
  t.notSame(liveOperation(file, panel, PRICES, [short], 'a'), liveOperation(file, panel, PRICES, [short], 'b'));
});

t.test('phases of a file with one field have no others', async (t) => {
  t.same(
    livePhases(file, 1_000).map(({ name, polls }) => [name, polls]),
    [
      ['steady', 400],
      ['three cheapest turn bad', 100],
      ['mended, half of the fields', 300],
    ],
  );
});
