// Confidence by brute force and in whole numbers: every way in which the models left can vote or fail, one vote after
// the other, each with its exact probability under the urn. Shares no formula with the code that it judges.

type Fraction = readonly [numerator: bigint, denominator: bigint];

/** Failure rates are in percent, so that they are exact. */
export function exactConfidence(votes: readonly number[], failurePercents: readonly number[]): number {
  return exactWinChance(votes, failurePercents, votes.indexOf(Math.max(...votes)));
}

/** The probability that `option` is the unique winner. */
export const exactWinChance = (votes: readonly number[], failurePercents: readonly number[], option: number): number =>
  toNumber(chance(votes, failurePercents, option));

function chance(votes: readonly number[], failurePercents: readonly number[], favourite: number): Fraction {
  const [failing, ...others] = failurePercents;
  if (failing === undefined)
    return votes.every((count, k) => k === favourite || count < votes[favourite]!) ? ONE : ZERO;
  let sum: Fraction = times([BigInt(failing), 100n], chance(votes, others, favourite));
  if (failing === 100) return sum;
  const cast = votes.reduce((total, count) => total + count, 0);
  for (const [option, count] of votes.entries()) {
    // (1/K + count) / (1 + cast), as whole numbers.
    const drawn: Fraction = [BigInt(1 + votes.length * count), BigInt(votes.length * (1 + cast))];
    const next = chance(votes.with(option, count + 1), others, favourite);
    sum = plus(sum, times(times([BigInt(100 - failing), 100n], drawn), next));
  }
  return sum;
}

const ZERO: Fraction = [0n, 1n];
const ONE: Fraction = [1n, 1n];

const plus = ([a, b]: Fraction, [c, d]: Fraction): Fraction => reduced([a * d + c * b, b * d]);
const times = ([a, b]: Fraction, [c, d]: Fraction): Fraction => reduced([a * c, b * d]);

function reduced([a, b]: Fraction): Fraction {
  let [x, y] = [a, b];
  while (y > 0n) [x, y] = [y, x % y];
  return x === 0n ? ZERO : [a / x, b / x];
}

const toNumber = ([a, b]: Fraction): number => Number((a * 10n ** 20n) / b) / 1e20;

/** Every list of `length` whole numbers from 0 up whose sum is at most `most`. */
export function countsUpTo(length: number, most: number): number[][] {
  if (length === 0) return [[]];
  return Array.from({ length: most + 1 }, (_, first) => first).flatMap((first) =>
    countsUpTo(length - 1, most - first).map((rest) => [first, ...rest]),
  );
}
