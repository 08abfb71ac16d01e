// The probability that an option is the winner after M more votes. Future votes are drawn from a Polya urn: a symmetric
// Dirichlet prior of total mass 1 over the options, updated by the votes seen (the audit of Rivest and Shen, 2012,
// applied to a panel). All terms are positive, so the sums lose no precision.
import { descending, type Votes, votesCast } from './tally.ts';

/** Element M is the probability that `option` is the unique winner after M more votes, M = 0..most. */
export function winChances(votes: Votes, option: number, most: number): readonly number[] {
  const favourite = votes[option]!;
  const rivals = descending(votes.toSpliced(option, 1));
  const key = `${favourite}:${rivals.join()}`;
  const known = memo.get(key);
  if (known !== undefined && known.length > most) return known;
  // A poll needs a few hundred entries. Clearing the map now and then is the simplest bound.
  if (memo.size >= MAX_MEMO_ENTRIES) memo.clear();
  const chances = computeWinChances(favourite, rivals, most);
  memo.set(key, chances);
  return chances;
}

/** Number of multiplications so far. Measures the cost of the urn independently of machine and load. */
export const termsMultiplied = (): number => terms;

const MAX_MEMO_ENTRIES = 10_000;
const memo = new Map<string, readonly number[]>();
let terms = 0;

function computeWinChances(favourite: number, rivals: Votes, most: number): number[] {
  const prior = 1 / (rivals.length + 1);
  const favouriteWays = ways(prior + favourite, most);
  const rivalWays = rivals.map((count) => ways(prior + count, most));

  const winning = new Array<number>(most + 1).fill(0);
  const behind = Math.max(0, (rivals[0] ?? 0) + 1 - favourite);
  for (let gained = behind; gained <= most; gained++) {
    // The other options share the votes that the favourite does not get, and none of them may reach it.
    let product = [1];
    for (const [k, rival] of rivalWays.entries())
      product = multiply(product, rival, favourite + gained - rivals[k]! - 1, most - gained);
    for (const [others, count] of product.entries()) winning[gained + others]! += favouriteWays[gained]! * count;
  }
  const all = ways(1 + favourite + votesCast(rivals), most);
  return winning.map((count, arrived) => count / all[arrived]!);
}

/**
 * Coefficients of (1 - z)^-mass: the weights of 0, 1, ... `most` more votes for an option or options with this mass.
 */
function ways(mass: number, most: number): number[] {
  const weights = [1];
  for (let j = 1; j <= most; j++) weights.push((weights[j - 1]! * (mass + j - 1)) / j);
  return weights;
}

/**
 * The product of two polynomials. Terms of `b` above degree `cap` are ignored, terms of the result above `degree`
 * dropped.
 */
function multiply(a: readonly number[], b: readonly number[], cap: number, degree: number): number[] {
  const product = new Array<number>(Math.min(degree, a.length - 1 + cap) + 1).fill(0);
  for (let i = 0; i < a.length; i++) {
    for (let j = 0; j <= cap && i + j < product.length; j++) product[i + j]! += a[i]! * b[j]!;
    terms += Math.min(cap + 1, Math.max(0, product.length - i));
  }
  return product;
}
