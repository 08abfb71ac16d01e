import fc from '@eloquentpoll/testkit/fast-check';
import { seededRandom } from '@eloquentpoll/voting';
import t from 'tap';
import { betaShare, meanInterval, shareBound, shareInterval } from '../src/interval.ts';
import { holds } from './holds.ts';

const near = (a: number, b: number, by = 1e-9) => Math.abs(a - b) <= by;

/** P(at most `hits`), summed term by term. */
function atMost(hits: number, trials: number, rate: number): number {
  let term = (1 - rate) ** trials;
  let sum = 0;
  for (let i = 0; i <= hits; i++) {
    sum += term;
    term *= (((trials - i) / (i + 1)) * rate) / (1 - rate);
  }
  return sum;
}

t.test('the interval ends where as few or as many hits become a 2.5% matter', async (t) => {
  holds(
    t,
    'by the binomial distribution itself',
    fc.property(fc.integer({ min: 1, max: 120 }), fc.nat(), (trials, pick) => {
      const hits = pick % (trials + 1);
      const { low, high } = shareInterval(hits, trials);
      const lowHolds = hits === 0 ? low === 0 : near(1 - atMost(hits - 1, trials, low), 0.025, 1e-8);
      const highHolds = hits === trials ? high === 1 : near(atMost(hits, trials, high), 0.025, 1e-8);
      return lowHolds && highHolds && low <= hits / trials && hits / trials <= high;
    }),
  );
  t.same(shareInterval(0, 0), { low: 0, high: 1 }, 'nothing is known');
  const { low, high } = shareInterval(8, 10);
  t.ok(near(low, 0.443905, 1e-6) && near(high, 0.974789, 1e-6), 'as published tables have it');
});

t.test('it covers the truth in at least 95% of samples, exactly counted', async (t) => {
  for (const trials of [5, 30, 100]) {
    for (const rate of [0.02, 0.3, 0.5, 0.97]) {
      let covered = 0;
      for (let hits = 0; hits <= trials; hits++) {
        const { low, high } = shareInterval(hits, trials);
        if (low <= rate && rate <= high)
          covered += atMost(hits, trials, rate) - (hits ? atMost(hits - 1, trials, rate) : 0);
      }
      t.ok(covered >= 0.95, `${trials} at ${rate}: ${covered}`);
    }
  }
});

t.test('more trials make it narrower, also large ones', async (t) => {
  const width = (trials: number) =>
    shareInterval(0.96 * trials, trials).high - shareInterval(0.96 * trials, trials).low;
  const widths = [10, 100, 1_000, 10_000, 1_000_000].map(width);
  t.same(
    widths,
    widths.toSorted((a, b) => b - a),
  );
  t.ok(near(widths[4]!, 2 * 1.96 * Math.sqrt((0.96 * 0.04) / 1_000_000), 1e-5), 'normal in the limit');
  t.ok(near(betaShare(0.5, 1, 1), 0.5) && near(betaShare(0.25, 2, 2), 0.15625));
});

t.test('the interval of a mean', async (t) => {
  const { mean, low, high } = meanInterval([1, 0, 1, 0], [0, 1]);
  t.ok(
    near(mean, 0.5) && near(high - mean, 1.959963984540054 * Math.sqrt(1.5 / 5 / 6)) && near(mean - low, high - mean),
  );
  t.match(meanInterval([], [-1, 1]), { mean: 0, low: -1, high: 1 }, 'nothing is known');
  const halves = Array.from({ length: 400 }, (_, i) => (i % 2) / 2);
  const many = meanInterval(halves, [0, 1]);
  t.ok(near(many.high - many.low, 2 * 1.96 * Math.sqrt(1 / 16 / 400), 1e-3), 'the bounds hardly matter to many values');
});

t.test(
  'the interval of a mean is never without width, and covers the truth of values that are nearly always equal',
  async (t) => {
    const same = meanInterval(new Array<number>(20).fill(1), [0, 1]);
    t.ok(same.low < 0.9 && same.high === 1, String(same.low));
    const apart = meanInterval([-1, -1, -1], [-1, 1]);
    t.ok(apart.low === -1 && apart.high > 0, 'three questions do not show that a panel is worse');
    const draw = seededRandom('means');
    for (const [rare, count] of [
      [0.01, 20],
      [0.03, 100],
      [0.1, 20],
    ] as const) {
      let covered = 0;
      for (let world = 0; world < 1_000; world++) {
        const values = Array.from({ length: count }, () => (draw(1_000) < 1_000 * rare ? 0.5 : 1));
        const { low, high } = meanInterval(values, [0, 1]);
        covered += Number(low <= 1 - rare / 2 && 1 - rare / 2 <= high);
      }
      t.ok(covered >= 940, `${count} values: ${covered} of 1000`);
    }
  },
);

t.test('a bound of one side is the rule of three without a hit, and covers the truth with some', async (t) => {
  for (const trials of [50, 1_000, 1_000_000]) {
    t.ok(Math.abs(shareBound(0, trials) - (1 - 0.05 ** (1 / trials))) < 1e-12, `${trials}`);
    const bound = shareBound(7, trials);
    t.ok(Math.abs(1 - betaShare(bound, 8, trials - 7) - 0.05) < 1e-6, 'so few hits are a chance of 5 % there');
  }
  t.same([shareBound(0, 0), shareBound(5, 5)], [1, 1]);
});
