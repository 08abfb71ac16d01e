import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { confidence, confidenceAmong } from '../src/confidence.ts';
import { isLocked } from '../src/mathematical-lock.ts';
import { leader } from '../src/tally.ts';
import { turnout } from '../src/turnout.ts';
import { holds } from './holds.ts';
import { countsUpTo, exactConfidence } from './oracle.ts';

const PRECISION = 1e-12;

const states = fc.integer({ min: 2, max: 10 }).chain((options) =>
  fc.record({
    votes: fc.array(fc.nat({ max: 5 }), { minLength: options, maxLength: options }),
    remaining: fc.nat({ max: 10 }),
    phi: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
);

t.test('confidence is exact for every state of up to 6 models and 4 options [§1-reason-confidence]', async (t) => {
  let worst = 0;
  let compared = 0;
  for (const options of [2, 3, 4]) {
    for (const votes of countsUpTo(options, 6)) {
      if (leader(votes) === null) continue;
      const cast = votes.reduce((sum, count) => sum + count, 0);
      for (let remaining = 0; remaining <= 6 - cast; remaining++) {
        for (const percent of remaining > 4 ? [0] : [0, 10]) {
          const exact = exactConfidence(votes, new Array<number>(remaining).fill(percent));
          worst = Math.max(worst, Math.abs(confidence(votes, remaining, percent / 100)! - exact));
          compared += 1;
        }
      }
    }
  }
  t.ok(worst <= PRECISION, `largest error ${worst}`);
  t.ok(compared > 400, `${compared} states`);
});

t.test('confidence is exact where every model has a failure rate of its own', async (t) => {
  const polls = fc.integer({ min: 2, max: 5 }).chain((options) =>
    fc.record({
      votes: fc.array(fc.nat({ max: 4 }), { minLength: options, maxLength: options }),
      percents: fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 4 }),
    }),
  );
  holds(
    t,
    'equal to the enumeration of all completions',
    fc.property(polls, ({ votes, percents }) => {
      fc.pre(leader(votes) !== null);
      const ours = confidenceAmong(
        votes,
        percents.map((percent) => percent / 100),
      )!;
      return Math.abs(ours - exactConfidence(votes, percents)) <= PRECISION;
    }),
    150,
  );
});

t.test('figures that others computed', async (t) => {
  const near = (actual: number | null, expected: number) =>
    t.ok(Math.abs(actual! - expected) <= PRECISION, `${expected}`);
  near(confidence([0, 2], 2), 15 / 16);
  near(confidence([1, 0, 0, 0, 0, 0, 0, 0, 0, 0], 3), 2629 / 4000);
  near(confidence([0, 0, 0, 0, 2, 0], 2), 397 / 432);
  near(confidence([0, 0, 0, 1, 0], 7), 10857 / 15625);
  near(confidence([0, 2], 2, 0.1), 0.949375);
  near(confidence([0, 0, 0, 1, 0], 7, 0.1), 0.7035476261248);
  for (let n = 1; n <= 12; n++) near(confidence([n, 0], n + 1), 1 - 2 ** -(2 * n + 1));
});

t.test('there is no confidence without a unique leader', async (t) => {
  t.equal(confidence([0, 0, 0], 5), null);
  t.equal(confidence([2, 2, 1], 3, 0.1), null);
  t.equal(confidence([2, 2], 0), null);
});

t.test('only a lock is certain', async (t) => {
  t.equal(confidence([3, 0], 2), 1);
  t.equal(confidence([1, 0], 0), 1);
  // A panel that as good as never answers: nearly certain, but the lead is no lock.
  t.equal(confidence([1, 0], 3, 1), 1 - 1e-12);
  t.equal(confidence([20, ...new Array<number>(9).fill(0)], 20), 1 - 1e-12);
  holds(
    t,
    'above 0, at most 1, and 1 exactly when locked',
    fc.property(states, ({ votes, remaining, phi }) => {
      const reached = confidence(votes, remaining, phi);
      if (reached === null) return leader(votes) === null;
      return reached > 0 && reached <= 1 && (reached === 1) === isLocked(votes, remaining);
    }),
  );
});

t.test('confidence does not depend on names, on order, or on what was asked before', async (t) => {
  holds(
    t,
    'the same for every permutation of the options',
    fc.property(states, fc.infiniteStream(fc.nat()), ({ votes, remaining, phi }, keys) => {
      const [...picks] = keys.take(votes.length);
      const permuted = votes.map((count, i) => ({ count, key: picks[i]! })).sort((a, b) => a.key - b.key);
      return (
        confidence(
          permuted.map(({ count }) => count),
          remaining,
          phi,
        ) === confidence(votes, remaining, phi)
      );
    }),
  );
  holds(
    t,
    'the same in whatever order panels of different size are asked about',
    fc.property(states, fc.nat({ max: 10 }), ({ votes, remaining, phi }, other) => {
      const before = confidence(votes, remaining, phi);
      confidence(votes, other, phi);
      return confidence(votes, remaining, phi) === before;
    }),
  );
  t.equal(confidence([3, 1, 0], 1), 1);
  t.equal(confidence([3, 1, 0], 4), confidence([1, 0, 3], 4));
});

t.test('one more vote for the leader never lowers confidence', async (t) => {
  holds(
    t,
    'with one model less to come',
    fc.property(states, ({ votes, remaining, phi }) => {
      const first = leader(votes);
      fc.pre(first !== null && remaining > 0);
      const more = confidence(votes.with(first!, votes[first!]! + 1), remaining - 1, phi)!;
      return more >= confidence(votes, remaining, phi)! - PRECISION;
    }),
  );
});

t.test('turnout is the distribution of the votes to come', async (t) => {
  t.same(turnout([]), [1]);
  t.same(turnout([0.25]), [0.25, 0.75]);
  t.same(turnout([0.5, 0]), [0, 0.5, 0.5]);
  const [none, one, two] = turnout([0.5, 0.25]);
  t.same([none, one, two], [0.125, 0.5, 0.375]);
});
