// E-values: evidence about the rate of wrong early stops that stays valid however often it is checked. An e-value is
// the result of a bet that wins on average only if the null hypothesis is false; 20 means significance at 5%.

/** The number of trials and of hits: early stops, and wrong ones. */
export interface Trials {
  readonly trials: number;
  readonly hits: number;
}

/** The evidence at which a certificate is given or an alarm is raised. */
export const STRONG_EVIDENCE = 20;

const BETS = 50;

/** Trials, and the highest rate of hits that was promised for them. */
export interface Promised {
  readonly limit: number;
  readonly seen: Trials;
}

/** Evidence against "the rate is `limit` or more": an even mixture of bets on the rates below. */
export const evidenceBelow = (limit: number, seen: Trials): number => evidenceBelowAll([{ limit, seen }]);

/** Evidence against "the rate is `limit` or less": an even mixture of bets on the rates above. */
export const evidenceAbove = (limit: number, seen: Trials): number => evidenceAboveAll([{ limit, seen }]);

/** The same for trials with different limits: each bet is on one share of the way from the limits to the end. */
export const evidenceBelowAll = (promised: readonly Promised[]): number =>
  mixture(promised, (limit, share) => share * limit);

export const evidenceAboveAll = (promised: readonly Promised[]): number =>
  mixture(promised, (limit, share) => limit + share * (1 - limit));

/** The mean likelihood ratio of evenly spread rates against the limits, the null hypothesis' most favorable rates. */
function mixture(promised: readonly Promised[], rateAt: (limit: number, share: number) => number): number {
  let evidence = 0;
  for (let bet = 0; bet < BETS; bet++) {
    let log = 0;
    for (const { limit, seen } of promised) {
      const rate = rateAt(limit, (bet + 0.5) / BETS);
      log += seen.hits * Math.log(rate / limit) + (seen.trials - seen.hits) * Math.log((1 - rate) / (1 - limit));
    }
    evidence += Math.exp(log);
  }
  return evidence / BETS;
}

/** A new bet on a change starts after this many trials. */
export const TRIALS_OF_A_BLOCK = 50;

/**
 * Evidence against "the rate is and stays `limit` or less", if it may have risen at any time: one bet starts with each
 * block, and their stakes sum to one. So a good past does not offset losses after a later change. Bets of the `dropped`
 * blocks before these are not stored and count as lost.
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
