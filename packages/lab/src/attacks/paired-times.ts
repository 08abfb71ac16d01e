import { percentile } from '../terminal/table.ts';

// Tests whether two kinds of requests, sent in pairs in random order, take equally long. If so, each difference is as
// likely as its opposite, whatever the noise and its drift. Both tests assume only this; p is a normal approximation.

export interface PairedTimes {
  /** Two-sided: twice the smaller p of two tests, of all differences and of the fastest tenth. */
  readonly p: number;
  /** The median of the differences, and its 95 % interval. */
  readonly apartUs: number;
  readonly betweenUs: readonly [number, number];
}

export function comparePaired(a: readonly number[], b: readonly number[]): PairedTimes {
  const differences = a.map((value, i) => value - b[i]!).toSorted((x, y) => x - y);
  const n = differences.length;
  const half = Math.ceil((Z * Math.sqrt(n)) / 2);
  const at = (rank: number) => differences[Math.max(0, Math.min(n - 1, rank))]!;
  const middle = Math.floor(n / 2);
  return {
    p: Math.min(1, 2 * Math.min(signedRank(differences), quickTail(a, b))),
    apartUs: at(middle),
    betweenUs: [at(middle - half), at(middle + half)],
  };
}

/** Wilcoxon's signed-rank test. */
function signedRank(differences: readonly number[]): number {
  const sizes = differences.filter((value) => value !== 0).toSorted((x, y) => Math.abs(x) - Math.abs(y));
  let [sum, squares] = [0, 0];
  for (let i = 0; i < sizes.length; ) {
    let j = i;
    while (j < sizes.length && Math.abs(sizes[j]!) === Math.abs(sizes[i]!)) j += 1;
    // Equal sizes share the mean of their ranks.
    const rank = (i + 1 + j) / 2;
    for (; i < j; i++) {
      sum += Math.sign(sizes[i]!) * rank;
      squares += rank ** 2;
    }
  }
  return twoSided(sum, squares);
}

/**
 * McNemar's test on how often only one of a pair is in the fastest tenth, because noise of the machine only adds time.
 */
function quickTail(a: readonly number[], b: readonly number[]): number {
  const quick = percentile([...a, ...b], 0.1) ?? 0;
  let [first, second] = [0, 0];
  for (const [i, value] of a.entries()) {
    if (value <= quick && b[i]! > quick) first += 1;
    if (value > quick && b[i]! <= quick) second += 1;
  }
  return twoSided(first - second, first + second);
}

/** Two-sided p of a sum with mean 0 and this variance, by the normal distribution. */
const twoSided = (sum: number, variance: number): number =>
  variance === 0 ? 1 : erfc(Math.abs(sum) / Math.sqrt(2 * variance));

const Z = 1.959963984540054;

/** Numerical Recipes 6.2.2: relative error below 1.2e-7, so that small p are right too. */
function erfc(x: number): number {
  const t = 1 / (1 + x / 2);
  const series = CHEBYSHEV.reduceRight((sum, term) => term + t * sum, 0);
  return t * Math.exp(-x * x + series);
}

const CHEBYSHEV = [
  -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223,
  0.17087277,
];
