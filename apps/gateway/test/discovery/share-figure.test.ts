import { EMPTY_SAID } from '@eloquentpoll/evidence';
import t from 'tap';
import { accuracyOf, figuresOf } from '../../src/discovery/calibration-figures.ts';
import { shareFigure } from '../../src/discovery/share-figure.ts';

t.test('a share below 1 is not rounded to 1', async (t) => {
  t.same(
    [0, 0.12344, 0.99994, 0.99996, 1].map((share) => shareFigure(share)),
    [0, 0.1234, 0.9999, 0.9999, 1],
  );
  t.same(
    [0.9999996, 1].map((share) => shareFigure(share, 6)),
    [0.999999, 1],
  );
});

t.test('one wrong stop of 30,000 shows in what is published', async (t) => {
  const polls = 30_000;
  const tally = {
    ...EMPTY_SAID,
    audits: polls,
    bands: [...new Array<[number, number, number]>(6).fill([0, 0, 0]), [polls, polls * 0.99999, polls - 1] as const],
    stops: { 0.95: [polls, polls * 0.99999, polls - 1] as const },
  };
  const { stops, bands } = figuresOf([{ tally, unmade: 0 }]);
  t.match(stops, { said: 0.9999, came_true: 0.9999, wrong: 1, high: 1 });
  t.match(bands, [{ said: 0.9999, came_true: 0.9999, high: 1 }]);
  t.ok(stops.low! <= stops.came_true! && bands[0]!.low! <= bands[0]!.came_true);
});

t.test('without feedback the share is unknown, not 1', async (t) => {
  const window = { from: new Date(0), days: 30, isWhole: true };
  const none = { total: 0, correct: 0, incorrect: 0, accounts: 0, rightAccounts: 0 };
  t.match(accuracyOf(none, window), { share: null, low: null, high: null });
});
