// Exact 95% intervals of a share (Clopper and Pearson, 1934): they contain the true value at least as often as stated,
// even for the smallest samples.

export interface Interval {
  readonly low: number;
  readonly high: number;
}

const TAIL = 0.025;

/**
 * The interval of `hits` in `trials`. `hits` may be a fraction if a trial is a mean of several. Without trials: from 0
 * to 1.
 */
export function shareInterval(hits: number, trials: number): Interval {
  return {
    low: hits <= 0 ? 0 : betaQuantile(TAIL, hits, trials - hits + 1),
    high: hits >= trials ? 1 : betaQuantile(1 - TAIL, hits + 1, trials - hits),
  };
}

/** The upper 95% bound of a share: about 3 / `trials` if there was no hit. */
export const shareBound = (hits: number, trials: number): number =>
  hits >= trials ? 1 : betaQuantile(0.95, hits + 1, trials - hits);

/**
 * A summary of any number of values, as plain JSON: count, mean, and sum of squared distances from it (Welford, 1962).
 */
export interface Moments {
  count: number;
  mean: number;
  squares: number;
}

export const noMoments = (): Moments => ({ count: 0, mean: 0, squares: 0 });

export function addValue(moments: Moments, value: number): void {
  const distance = value - moments.mean;
  moments.count += 1;
  moments.mean += distance / moments.count;
  moments.squares += distance * (value - moments.mean);
}

/** The lowest and the highest possible value. */
export type Bounds = readonly [lowest: number, highest: number];

/** The mean of independent values. */
export function meanInterval(values: readonly number[], bounds: Bounds): Interval & { readonly mean: number } {
  const moments = noMoments();
  for (const value of values) addValue(moments, value);
  return momentsInterval(moments, bounds);
}

/**
 * By the normal distribution, with one imagined value at each bound. Without these, a few equal values would have an
 * interval of no width: of values that are 1 in 99 of 100 cases, 20 give an interval without the true mean in four of
 * five samples.
 */
export function momentsInterval(moments: Moments, bounds: Bounds): Interval & { readonly mean: number } {
  const all = { ...moments };
  for (const bound of bounds) addValue(all, bound);
  const half = Z * Math.sqrt(all.squares / (all.count - 1) / all.count);
  const [lowest, highest] = bounds;
  return { mean: moments.mean, low: Math.max(lowest, all.mean - half), high: Math.min(highest, all.mean + half) };
}

/**
 * How much more often the first of two answers to the same questions is right. In `gained` trials only the first was
 * right, in `lost` only the second. Combines the far ends of both intervals, so the result is rather too wide than too
 * narrow.
 */
export function pairedInterval(gained: number, lost: number, trials: number): Interval & { readonly mean: number } {
  const [more, less] = [shareInterval(gained, trials), shareInterval(lost, trials)];
  return { mean: (gained - lost) / Math.max(1, trials), low: more.low - less.high, high: more.high - less.low };
}

/** The 97.5% quantile of the standard normal distribution. */
const Z = 1.959963984540054;

/** By bisection. 60 steps exceed the precision of a double. */
function betaQuantile(probability: number, a: number, b: number): number {
  let [low, high] = [0, 1];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (betaShare(middle, a, b) < probability) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The regularized incomplete beta function I_x(a, b), by Lentz's continued fraction. */
export function betaShare(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges fast only below the mean.
  if (x > (a + 1) / (a + b + 2)) return 1 - betaShare(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  let c = 1;
  let d = 1 / notZero(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < 2_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / notZero(1 + even * d);
    c = notZero(1 + even / c);
    fraction *= c * d;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / notZero(1 + odd * d);
    c = notZero(1 + odd / c);
    fraction *= c * d;
    if (Math.abs(c * d - 1) < 1e-14) break;
  }
  return front * fraction;
}

const notZero = (value: number): number => (Math.abs(value) < 1e-300 ? 1e-300 : value);

/** Lanczos approximation, g = 7, nine terms: fourteen digits for positive arguments. */
function logGamma(x: number): number {
  const [first, ...terms] = LANCZOS as [number, ...number[]];
  const series = terms.reduce((sum, term, i) => sum + term / (x + i), first);
  const shifted = x + 6.5;
  return (x - 0.5) * Math.log(shifted) - shifted + Math.log(Math.sqrt(2 * Math.PI) * series);
}

const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];
