import fc from '@eloquentpoll/testkit/fast-check';
import { seededRandom } from '@eloquentpoll/voting';
import t from 'tap';
import { evidenceAbove, evidenceBelow, evidenceOfRise, STRONG_EVIDENCE, type Trials } from '../src/e-value.ts';
import { holds } from './holds.ts';

const LIMIT = 0.05;

/** The average evidence after `trials` at a true rate, over every number of hits: exact. */
function expected(evidence: (seen: Trials) => number, trials: number, rate: number): number {
  let probability = (1 - rate) ** trials;
  let sum = 0;
  for (let hits = 0; hits <= trials; hits++) {
    sum += probability * evidence({ trials, hits });
    probability *= (((trials - hits) / (hits + 1)) * rate) / (1 - rate);
  }
  return sum;
}

t.test('where the hypothesis holds, evidence against it is at most 1 on average', async (t) => {
  for (const trials of [1, 5, 40, 150]) {
    for (const rate of [0.05, 0.08, 0.3])
      t.ok(expected((seen) => evidenceBelow(LIMIT, seen), trials, rate) <= 1 + 1e-9, `below: ${trials} at ${rate}`);
    for (const rate of [0.05, 0.03, 0.001])
      t.ok(expected((seen) => evidenceAbove(LIMIT, seen), trials, rate) <= 1 + 1e-9, `above: ${trials} at ${rate}`);
  }
  t.equal(evidenceBelow(LIMIT, { trials: 0, hits: 0 }), 1);
  t.equal(evidenceAbove(LIMIT, { trials: 0, hits: 0 }), 1);
});

t.test('each trial multiplies evidence by 1 on average at the limit: it holds at every look', async (t) => {
  holds(
    t,
    'a martingale',
    fc.property(fc.nat({ max: 400 }), fc.nat({ max: 40 }), (right, wrong) => {
      const seen = { trials: right + wrong, hits: wrong };
      const after = (hit: 0 | 1) => ({ trials: seen.trials + 1, hits: wrong + hit });
      return [evidenceBelow, evidenceAbove].every((evidence) => {
        const next = LIMIT * evidence(LIMIT, after(1)) + (1 - LIMIT) * evidence(LIMIT, after(0));
        return Math.abs(next / evidence(LIMIT, seen) - 1) < 1e-9;
      });
    }),
  );
});

/** Trials until the evidence is strong, as the median of seeded runs. */
function medianUntilStrong(evidence: (seen: Trials) => number, rate: number, most: number): number {
  const needed = Array.from({ length: 41 }, (_, run) => {
    const draw = seededRandom(`run ${run} at ${rate}`);
    let hits = 0;
    for (let trials = 1; trials <= most; trials++) {
      hits += Number(draw(1_000_000) < 1_000_000 * rate);
      if (evidence({ trials, hits }) >= STRONG_EVIDENCE) return trials;
    }
    return Number.POSITIVE_INFINITY;
  });
  return needed.toSorted((a, b) => a - b)[20]!;
}

t.test('how many stops it takes', async (t) => {
  const certified = medianUntilStrong((seen) => evidenceBelow(LIMIT, seen), 0.01, 600);
  t.ok(certified > 80 && certified < 200, `certified at 1%: ${certified}`);
  const alarmed = medianUntilStrong((seen) => evidenceAbove(LIMIT, seen), 0.15, 400);
  t.ok(alarmed > 25 && alarmed < 90, `alarmed at 15%: ${alarmed}`);
});

t.test('a break after a long good time is seen, and a good time raises no alarm', async (t) => {
  const blocks = (count: number, hits: number) => Array.from({ length: count }, () => ({ trials: 50, hits }));
  const good = blocks(60, 1);
  t.ok(evidenceOfRise(LIMIT, good) < 1);
  t.ok(evidenceOfRise(LIMIT, [...good, ...blocks(5, 9)]) >= STRONG_EVIDENCE, '18% for 250 stops');
  const sum = { trials: 65 * 50, hits: 60 + 45 };
  t.ok(evidenceAbove(LIMIT, sum) < 1, 'which the total does not show');
  t.equal(evidenceOfRise(LIMIT, []), 1);
  holds(
    t,
    'adding a block at the limit does not change it on average',
    fc.property(fc.array(fc.nat({ max: 12 }), { maxLength: 8 }), (hits) => {
      const past = hits.map((count) => ({ trials: 50, hits: count }));
      const next = expected((block) => evidenceOfRise(LIMIT, [...past, block]), 50, LIMIT);
      return Math.abs(next / evidenceOfRise(LIMIT, past) - 1) < 1e-6;
    }),
    60,
  );
});
