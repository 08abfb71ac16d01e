import fc from '@eloquentpoll/testkit/fast-check';
import { confidence, leader, seededRandom } from '@eloquentpoll/voting';
import t from 'tap';
import { addedBands, bandTally, calibrationBands, type StatedConfidence, type Sums } from '../src/calibration.ts';
import { statesOf } from '../src/said-tally.ts';
import { holds } from './holds.ts';

const said = (poll: number, confidence: number, cameTrue = true): StatedConfidence => ({ poll, confidence, cameTrue });
const many = (from: number, count: number, confidence: number, wrong = 0): StatedConfidence[] =>
  Array.from({ length: count }, (_, i) => said(from + i, confidence, i >= wrong));

t.test('bands with enough polls stand alone', async (t) => {
  const bands = calibrationBands([...many(0, 120, 0.75, 30), ...many(500, 200, 0.96, 8)]);
  t.match(bands, [
    { from: 0.7, to: 0.8, polls: 120, cameTrue: 0.75, isPooled: false },
    { from: 0.95, to: 1, polls: 200, cameTrue: 0.96, isPooled: false },
  ]);
  t.ok(bands[1]!.interval.low > 0.9 && bands[1]!.interval.low < 0.96 && bands[1]!.interval.high > 0.96);
});

t.test('bands with too few are pooled with the smaller neighbour, and say so', async (t) => {
  const bands = calibrationBands([...many(0, 300, 0.55), ...many(400, 20, 0.65), ...many(500, 110, 0.75)]);
  t.match(
    bands.map(({ from, to, polls, isPooled }) => [from, to, polls, isPooled]),
    [
      [0.5, 0.6, 300, false],
      [0.6, 0.8, 130, true],
    ],
  );
  t.match(calibrationBands(many(0, 3, 0.97)), [{ from: 0.95, to: 1, polls: 3, isPooled: false }]);
  t.same(calibrationBands([]), []);
});

t.test('a poll counts once per band: its states come true together', async (t) => {
  const once = calibrationBands(many(0, 150, 0.97, 5));
  const often = calibrationBands(many(0, 150, 0.97, 5).flatMap((state) => [state, state, state]));
  t.same(often, once);
});

t.test('a poll counts with its first state in a band, whatever comes after', async (t) => {
  const bands = calibrationBands([said(1, 0.71, false), said(1, 0.79), said(1, 0.75)]);
  t.match(bands, [{ polls: 1, said: 0.71, cameTrue: 0 }]);
});

t.test(
  'exact probabilities come true as stated in each band, counted over all polls that the urn can draw',
  async (t) => {
    for (const [panelSize, optionCount] of [
      [5, 4],
      [7, 2],
      [9, 2],
    ] as const) {
      const sums = drawn(panelSize, optionCount).reduce(
        (sum, { chance, votes }) => {
          const bands = bandTally(statesOfPoll(panelSize, optionCount, votes));
          return addedBands(
            sum,
            bands.map(([polls, stated, came]): Sums => [chance * polls, chance * stated, chance * came]),
          );
        },
        addedBands([], []),
      );
      for (const [polls, stated, came] of sums.filter(([count]) => count > 0))
        t.ok(
          Math.abs(came - stated) / polls < 1e-9,
          `${panelSize} models: said ${stated / polls}, came true ${came / polls}`,
        );
    }
  },
);

/** All sequences of votes, each with its probability. */
function drawn(panelSize: number, optionCount: number): { chance: number; votes: readonly number[] }[] {
  let polls: { chance: number; votes: readonly number[] }[] = [{ chance: 1, votes: [] }];
  for (let cast = 0; cast < panelSize; cast++)
    polls = polls.flatMap(({ chance, votes }) =>
      Array.from({ length: optionCount }, (_, option) => {
        const own = votes.filter((vote) => vote === option).length;
        return { chance: (chance * (own + 1 / optionCount)) / (1 + cast), votes: [...votes, option] };
      }),
    );
  return polls;
}

function statesOfPoll(panelSize: number, optionCount: number, votes: readonly number[]) {
  const tallies = votes.map((_, i) =>
    Array.from({ length: optionCount }, (_, k) => votes.slice(0, i + 1).filter((v) => v === k).length),
  );
  const stated = tallies.map((tally, i) => confidence(tally, panelSize - 1 - i));
  return statesOf({ panelSize, optionCount, votes, said: stated, winner: leader(tallies.at(-1)!) });
}

t.test('what was proven is no forecast', async (t) => {
  t.same(calibrationBands([said(1, 1), said(2, Number.NaN)]), []);
});

t.test('bands of any states', async (t) => {
  const states = fc.array(
    fc.record({
      poll: fc.nat({ max: 60 }),
      confidence: fc.double({ min: 0, max: 1, noNaN: true }),
      cameTrue: fc.boolean(),
    }),
    { maxLength: 400 },
  );
  holds(
    t,
    'do not overlap, have enough polls, and lie within their intervals',
    fc.property(states, fc.integer({ min: 1, max: 80 }), (states, minPolls) => {
      const bands = calibrationBands(states, minPolls);
      return bands.every(
        (band, i) =>
          (i === 0 || bands[i - 1]!.to <= band.from) &&
          (bands.length === 1 || band.polls >= minPolls) &&
          band.said >= band.from &&
          band.said < band.to &&
          band.interval.low <= band.cameTrue &&
          band.cameTrue <= band.interval.high,
      );
    }),
  );
});

t.test(
  'published intervals cover the truth in at least 93% of bands, with states of a poll that go together',
  async (t) => {
    let [bands, covered] = [0, 0];
    for (let world = 0; world < 60; world++) {
      const draw = seededRandom(`world ${world}`);
      const share = () => draw(1_000_000) / 1_000_000;
      const states: StatedConfidence[] = [];
      for (let poll = 0; poll < 900; poll++) {
        // Within a band all polls have one true chance, which its three states share.
        const chance = [0.55, 0.72, 0.85, 0.93, 0.98][draw(5)]!;
        const cameTrue = share() < chance;
        for (let state = 0; state < 3; state++) states.push({ poll, confidence: chance, cameTrue });
      }
      for (const band of calibrationBands(states)) {
        bands += 1;
        covered += Number(band.interval.low <= band.said && band.said <= band.interval.high);
      }
    }
    t.ok(bands >= 290, `${bands} bands`);
    t.ok(covered / bands >= 0.93, `${covered} of ${bands}`);
  },
);

t.test('and so do those of pooled bands that the same polls were in', async (t) => {
  const worlds = 300;
  let covered = 0;
  for (let world = 0; world < worlds; world++) {
    const draw = seededRandom(`pooled ${world}`);
    const states = Array.from({ length: 70 }, (_, poll) => {
      const cameTrue = draw(1_000_000) < 800_000;
      return [said(poll, 0.79, cameTrue), said(poll, 0.81, cameTrue)];
    }).flat();
    const [band, ...others] = calibrationBands(states);
    t.match([band!.isPooled, others.length], [true, 0]);
    covered += Number(band!.interval.low <= 0.8 && 0.8 <= band!.interval.high);
  }
  t.ok(covered / worlds >= 0.93, `${covered} of ${worlds}`);
});
