import type { MeasuredMean, MeasuredShare, PairedDifference } from '@eloquentpoll/contracts';
import { type Moments, momentsInterval, pairedInterval, shareInterval } from '@eloquentpoll/evidence';

// Figures with their confidence intervals, in the form of the answer. Costs are in micro-USD.

export function measuredShare(count: number, of: number): MeasuredShare {
  const { low, high } = shareInterval(count, of);
  const ofRows = (value: number) => (of === 0 ? null : rounded(value));
  return { count, of, share: ofRows(count / of), low: ofRows(low), high: ofRows(high) };
}

/** The mean of shares. */
export function measuredMean(moments: Moments): MeasuredMean {
  const { mean, low, high } = momentsInterval(moments, [0, 1]);
  const isKnown = moments.count >= 2;
  return {
    mean: moments.count === 0 ? null : rounded(mean),
    low: isKnown ? rounded(low) : null,
    high: isKnown ? rounded(high) : null,
  };
}

/** Figures are reported if at most this share of the polls is unknown; with more unknown polls they could mislead. */
export const MAX_UNKNOWN_SHARE = 0.01;

/** The cost of one right answer, at the measured share of right answers and at both ends of its interval. */
export function costPerRight(costU: number, { of, share, low, high }: MeasuredShare): MeasuredMean {
  const at = (value: number | null) => (value ? toUsd(costU / (of * value)) : null);
  return { mean: at(share), low: at(high), high: at(low) };
}

export function difference(gained: number, lost: number, of: number): PairedDifference {
  const { mean, low, high } = pairedInterval(gained, lost, of);
  const ofRows = (value: number) => (of === 0 ? null : rounded(value));
  return { gained, lost, mean: ofRows(mean), low: ofRows(low), high: ofRows(high) };
}

/**
 * The difference of two measured shares, with the interval of Newcombe (1998, method 10) from theirs. Of two answers to the
 * same questions it is rather too wide, because those tend to be right together.
 */
export function shareDifference(one: MeasuredShare, other: MeasuredShare): { mean: number; low: number; high: number } {
  const [a, b] = [one, other].map(({ share, low, high }) => ({ share: share ?? 0, low: low ?? 0, high: high ?? 1 }));
  const mean = a!.share - b!.share;
  return {
    mean,
    low: mean - Math.hypot(a!.share - a!.low, b!.high - b!.share),
    high: mean + Math.hypot(a!.high - a!.share, b!.share - b!.low),
  };
}

export const toUsd = (microUsd: number): number => Math.round(microUsd) / 1_000_000;
export const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;
