import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { decide } from '../src/decide.ts';
import { type EstimateSeat, estimate } from '../src/estimate.ts';
import { forecast } from '../src/forecast.ts';
import { launched, newPoll, type PollState, type Rules, received } from '../src/poll.ts';
import { seatsThatAre, tally } from '../src/standing.ts';
import { votesCast } from '../src/tally.ts';
import { holds } from './holds.ts';
import { RULES, seatsOf } from './make-poll.ts';

const panel = (count: number, more: Partial<EstimateSeat> = {}): EstimateSeat[] =>
  seatsOf(count).map((seat) => ({ ...seat, typicalCostU: 4n, p50Ms: 1_000, p90Ms: 1_000, ...more }));

const LOCK_ONLY: Rules = { ...RULES, optionCount: 2, threshold: 1, hedge: 'all' };
const near = (actual: number, expected: number) => Math.abs(actual - expected) < 1e-9 * Math.max(1, expected);

interface Walk {
  readonly calls: Map<number, number>;
  readonly reasons: Map<string, number>;
  mean: number;
  square: number;
}

/**
 * What the machine itself does on every sequence of votes, with the probability of each under the urn. Waits are
 * exponential, so mean and variance of a sequence are the sums over its calls in flight.
 */
function walk(rules: Rules, panel: number, phi: number): Walk {
  const found: Walk = { calls: new Map(), reasons: new Map(), mean: 0, square: 0 };
  const visit = (poll: PollState, probability: number, ended: number, mean: number, variance: number): void => {
    if (probability === 0) return;
    const decision = decide(poll, { slow: false });
    if (decision.kind === 'stop') {
      found.calls.set(ended, (found.calls.get(ended) ?? 0) + probability);
      found.reasons.set(decision.reason, (found.reasons.get(decision.reason) ?? 0) + probability);
      found.mean += probability * mean;
      found.square += probability * (variance + mean ** 2);
      return;
    }
    const asked = launched(poll, decision.launch);
    const calls = seatsThatAre(asked, 'in_flight');
    const seat = calls[0]!;
    const votes = tally(poll);
    for (const option of [null, ...votes.keys()]) {
      const drawn = option === null ? 0 : (1 / votes.length + votes[option]!) / (1 + votesCast(votes));
      visit(
        received(asked, { seat, option, billedU: 10n }),
        probability * (option === null ? phi : (1 - phi) * drawn),
        ended + 1,
        mean + 1 / calls.length,
        variance + 1 / calls.length ** 2,
      );
    }
  };
  const seats = seatsOf(panel).map((seat) => ({ ...seat, failureRate: phi }));
  visit(newPoll(rules, seats), 1, 0, 0, 0);
  return found;
}

const total = (numbers: Iterable<number>) => [...numbers].reduce((sum, value) => sum + value, 0);

t.test('the forecast is what the machine does on every sequence of votes [§1-support-estimate]', async (t) => {
  const panels = [
    { optionCount: 2, size: 7, phi: 0 },
    { optionCount: 3, size: 6, phi: 0 },
    { optionCount: 2, size: 5, phi: 0.2 },
    { optionCount: 4, size: 5, phi: 0.05 },
  ];
  for (const { optionCount, size, phi } of panels) {
    for (const threshold of [0, 0.8, 0.95, 1]) {
      for (const hedge of ['all', 'one', 'when_slow'] as const) {
        for (const affordable of [size, 4, 2]) {
          const rules: Rules = { optionCount, threshold, minVotes: 2, hedge, maxCostU: BigInt(10 * affordable) };
          const expected = walk(rules, size, phi);
          const endings = forecast(rules, size, affordable, phi);
          const label = `${JSON.stringify({ optionCount, size, phi, threshold, hedge, affordable })}`;
          const sumOf = (of: (ending: (typeof endings)[number]) => number) =>
            total(endings.map((end) => end.probability * of(end)));
          const same = [
            near(
              sumOf(() => 1),
              1,
            ),
            near(
              sumOf((end) => end.time.mean),
              expected.mean,
            ),
            near(
              sumOf((end) => end.time.square),
              expected.square,
            ),
            ...[...expected.calls].map(([calls, chance]) =>
              near(
                sumOf((end) => Number(end.calls === calls)),
                chance,
              ),
            ),
            ...[...expected.reasons].map(([reason, chance]) =>
              near(
                sumOf((end) => Number(end.reason === reason)),
                chance,
              ),
            ),
          ];
          if (same.includes(false)) t.fail(label, { same });
        }
      }
    }
  }
  t.pass('calls, reasons and time agree');
});

t.test('three models, two options, lock only: worked out by hand', async (t) => {
  // The second vote agrees with the first with probability 3/4, and then the poll is locked.
  const { calls, costU, latencyMs, earlyTermination } = estimate(LOCK_ONLY, panel(3));
  t.same(calls, { min: 2, expected: 2.25, max: 3 });
  t.same(costU, { min: 8n, expected: 9n, max: 30n });
  t.same(earlyTermination, { probability: 0.75, likelyReason: 'mathematical_lock' });
  // All three in flight: the second answer after 1/3 + 1/2 of a call, the third after another one.
  const two = 1 / 3 + 1 / 2;
  const mean = 0.75 * two + 0.25 * (two + 1);
  const square = 0.75 * (13 / 36 + two ** 2) + 0.25 * (49 / 36 + (two + 1) ** 2);
  const sigma = Math.sqrt(Math.log(square / mean ** 2));
  t.ok(near(latencyMs.min, 1_000 * two));
  t.ok(near(latencyMs.expected, 1_000 * mean));
  t.ok(near(latencyMs.max, 1_000 * (two + 1)));
  t.ok(near(latencyMs.p50, 1_000 * mean * Math.exp(-(sigma ** 2) / 2)));
  t.ok(near(latencyMs.p95, latencyMs.p50 * Math.exp(1.6448536269514722 * sigma)));
});

t.test('a call takes as long as its model does on average', async (t) => {
  const even = estimate(LOCK_ONLY, panel(3)).latencyMs.expected;
  const skewed = estimate(LOCK_ONLY, panel(3, { p50Ms: 1_000, p90Ms: 2_000 })).latencyMs.expected;
  const sigma = Math.log(2) / 1.2815515655446004;
  t.ok(near(skewed, even * Math.exp(sigma ** 2 / 2)));
  t.equal(
    estimate(LOCK_ONLY, panel(3, { p50Ms: 1_000, p90Ms: 10 })).latencyMs.expected,
    even,
    'p90 below p50 is no news',
  );
  const mixed = panel(3).map((seat, i) => ({ ...seat, p50Ms: 1_000 * (i + 1), p90Ms: 1_000 * (i + 1) }));
  t.ok(near(estimate(LOCK_ONLY, mixed).latencyMs.expected, 2 * even));
});

t.test('cheapest first: a model counts as often as it is asked', async (t) => {
  const rules: Rules = { ...LOCK_ONLY, order: 'cheapest' };
  const even = estimate(LOCK_ONLY, panel(3));
  const dearIsSlow = panel(3).map((seat, i) => ({ ...seat, p50Ms: i < 2 ? 1_000 : 4_000, p90Ms: 1_000 }));
  // Two votes are always needed; the third is asked if they differ.
  const third = even.calls.expected - 2;
  t.ok(third > 0 && third < 1);
  const callS = (1 + 1 + 4 * third) / (2 + third);
  t.ok(near(estimate(rules, dearIsSlow).latencyMs.expected, even.latencyMs.expected * callS));
});

t.test('the fewest calls of a lock are just over half the panel', async (t) => {
  for (const size of [1, 2, 3, 4, 5, 8, 9]) {
    const { calls } = estimate({ ...LOCK_ONLY, hedge: 'one' }, panel(size));
    t.match(calls, { min: Math.floor(size / 2) + 1, max: size });
  }
  t.equal(estimate(RULES, panel(9)).earlyTermination.likelyReason, 'confidence');
  t.same(estimate(LOCK_ONLY, panel(1)).earlyTermination, { probability: 0, likelyReason: 'roster_exhausted' });
  t.same(estimate(LOCK_ONLY, panel(2)).earlyTermination, { probability: 0, likelyReason: 'roster_exhausted' });
});

t.test('a budget bounds calls and cost', async (t) => {
  // Each call reserves 10 and then costs 4: after three of them 12 are spent, and a fourth does not fit into 20.
  const tight = estimate({ ...LOCK_ONLY, maxCostU: 20n }, panel(9));
  t.match(tight.calls, { min: 3, expected: 3, max: 3 });
  t.same(tight.costU, { min: 12n, expected: 12n, max: 20n });
  t.same(tight.earlyTermination, { probability: 1, likelyReason: 'budget' });
  const none = estimate({ ...LOCK_ONLY, maxCostU: 9n }, panel(9));
  t.same(none.calls, { min: 0, expected: 0, max: 0 });
  t.same(none.costU, { min: 0n, expected: 0n, max: 0n });
  t.same(none.latencyMs, { min: 0, expected: 0, max: 0, p50: 0, p95: 0 });
});

t.test(
  'prices differ: the cheapest for the minimum, the average for what is expected, every reserve for the maximum',
  async (t) => {
    const seats = panel(3).map((seat, i) => ({ ...seat, typicalCostU: [9n, 2n, 7n][i]!, reserveU: 10n + BigInt(i) }));
    t.same(estimate(LOCK_ONLY, seats).costU, { min: 9n, expected: 14n, max: 33n });
    const halfFails = estimate({ ...LOCK_ONLY, minVotes: 1 }, panel(2, { failureRate: 0.5 }));
    t.equal(halfFails.calls.expected, 2);
    t.same(halfFails.costU, { min: 4n, expected: 4n, max: 20n }, 'a failed vote is not billed');
  },
);

t.test(
  'the whole panel costs the same in any order, and however little of it a limit or the cheapest leave to ask',
  (t) => {
    const seats = panel(5).map((seat, i) => ({
      ...seat,
      typicalCostU: BigInt(100 * (i + 1)),
      reserveU: 1_000n,
      failureRate: 0.1,
    }));
    const rich = { ...LOCK_ONLY, threshold: 0.9, maxCostU: 10_000n };
    const [shuffled, cheapest] = [estimate(rich, seats), estimate({ ...rich, order: 'cheapest' }, seats)];
    for (const { wholeU } of [shuffled, cheapest, estimate({ ...rich, maxCostU: 500n }, seats)])
      t.equal(wholeU, 1_350n);
    t.equal(shuffled.costU.expected, BigInt(Math.round((shuffled.calls.expected / 5) * 1_350)));
    t.ok(cheapest.costU.expected < shuffled.costU.expected);
    t.end();
  },
);

const panels = fc.array(
  fc.record({
    family: fc.constant('a'),
    typicalCostU: fc.bigInt({ min: 0n, max: 50n }),
    reserveU: fc.bigInt({ min: 50n, max: 100n }),
    failureRate: fc.double({ min: 0, max: 0.6, noNaN: true }),
    p50Ms: fc.integer({ min: 1, max: 10_000 }),
    p90Ms: fc.integer({ min: 1, max: 40_000 }),
  }),
  { minLength: 1, maxLength: 9 },
);
const rules = fc.record({
  optionCount: fc.integer({ min: 2, max: 10 }),
  threshold: fc.double({ min: 0, max: 1, noNaN: true }),
  minVotes: fc.integer({ min: 1, max: 3 }),
  maxCostU: fc.bigInt({ min: 0n, max: 900n }),
  hedge: fc.constantFrom('all', 'one', 'when_slow'),
});

t.test('estimates of any panel', async (t) => {
  const slack = 1e-9;
  holds(
    t,
    'are ordered, and stay within panel and budget',
    fc.property(rules, panels, (rules, seats) => {
      const { calls, costU, latencyMs, earlyTermination } = estimate(rules, seats);
      return (
        calls.min <= calls.expected + slack &&
        calls.expected <= calls.max + slack &&
        calls.max <= seats.length &&
        costU.min <= costU.expected &&
        costU.expected <= costU.max &&
        costU.max <= rules.maxCostU &&
        latencyMs.min <= latencyMs.expected * (1 + slack) &&
        latencyMs.expected <= latencyMs.max * (1 + slack) &&
        latencyMs.p50 <= latencyMs.p95 &&
        earlyTermination.probability >= 0 &&
        earlyTermination.probability <= 1
      );
    }),
  );
  holds(
    t,
    'never expect fewer calls of a higher threshold',
    fc.property(rules, panels, fc.double({ min: 0, max: 1, noNaN: true }), (rules, seats, other) => {
      const [low, high] = [Math.min(rules.threshold, other), Math.max(rules.threshold, other)];
      const at = (threshold: number) => estimate({ ...rules, threshold }, seats).calls;
      return at(low).expected <= at(high).expected + slack && at(low).min <= at(high).min;
    }),
  );
  holds(
    t,
    'do not depend on the order of the seats while the budget allows them all',
    fc.property(rules, panels, (rules, seats) => {
      const rich = { ...rules, maxCostU: 1_000n };
      const [one, other] = [estimate(rich, seats), estimate(rich, seats.toReversed())];
      return near(one.calls.expected, other.calls.expected) && near(one.latencyMs.p95, other.latencyMs.p95);
    }),
  );
});
