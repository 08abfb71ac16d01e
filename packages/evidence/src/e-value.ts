// Evidence about a rate of wrong early stops that holds at every look: e-values. A bet that multiplies its stake by more
// than one on average only if the null hypothesis is false; 20 times the stake is significance at 5% whenever it comes.

/** So many trials, of which so many were hits: stops, and wrong ones. */
export interface Trials {
  readonly trials: number;
  readonly hits: number;
}

/** Evidence at which a certificate is given or an alarm raised. */
export const STRONG_EVIDENCE = 20;

const BETS = 50;

/** Against "the rate is `limit` or more": an even mixture of bets on the rates below. */
export const evidenceBelow = (limit: number, seen: Trials): number => mixture(limit, seen, (share) => share * limit);

/** Against "the rate is `limit` or less": an even mixture of bets on the rates above. */
export const evidenceAbove = (limit: number, seen: Trials): number =>
  mixture(limit, seen, (share) => limit + share * (1 - limit));

/** Likelihood ratios against `limit`, the hypothesis' most favourable member, of rates spread evenly. */
function mixture(limit: number, { trials, hits }: Trials, rateAt: (share: number) => number): number {
  let evidence = 0;
  for (let bet = 0; bet < BETS; bet++) {
    const rate = rateAt((bet + 0.5) / BETS);
    evidence += Math.exp(hits * Math.log(rate / limit) + (trials - hits) * Math.log((1 - rate) / (1 - limit)));
  }
  return evidence / BETS;
}

/** Trials after which a new bet on a change begins. */
export const TRIALS_OF_A_BLOCK = 50;

/**
 * Against "the rate is and stays `limit` or less", when it may have risen at any time: bets that begin with each block,
 * with stakes that sum to one. A good past does not cancel what a later break loses. Bets of `dropped` blocks before
 * these are not remembered and count as lost.
 */
export function evidenceOfRise(limit: number, blocks: readonly Trials[], dropped = 0): number {
  const stake = (block: number) => 1 / ((block + 1) * (block + 2));
  let evidence = 1 / (dropped + blocks.length + 1);
  let since: Trials = { trials: 0, hits: 0 };
  for (let block = blocks.length - 1; block >= 0; block--) {
    since = { trials: since.trials + blocks[block]!.trials, hits: since.hits + blocks[block]!.hits };
    evidence += stake(dropped + block) * evidenceAbove(limit, since);
  }
  return evidence;
}
