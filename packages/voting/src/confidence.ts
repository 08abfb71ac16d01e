// The exact probability that the current leader is the unique winner once every remaining model has voted or failed. It
// is about the panel ("the full panel would elect this"), never about the truth of the answer.
import { isLocked } from './mathematical-lock.ts';
import { leader, type Votes } from './tally.ts';
import { type TrackRecord, trackRecordSays } from './track-record.ts';
import { turnout } from './turnout.ts';
import { winChances } from './urn.ts';

/** Only a lock is certain. Everything else stays below 1, so that a threshold of 1 means "stop only on a lock". */
const MAX_WITHOUT_LOCK = 1 - 1e-12;

/** Confidence with `remaining` models that each fail with probability `phi`. Null without a unique leader. */
export function confidence(votes: Votes, remaining: number, phi = 0): number | null {
  return confidenceAmong(votes, new Array<number>(remaining).fill(phi));
}

/**
 * The same with a failure rate per remaining model. Models with a running call count as remaining. A track record can
 * only lower the probability from the urn (see `urn.ts`).
 */
export function confidenceAmong(votes: Votes, failureRates: readonly number[], record?: TrackRecord): number | null {
  const leading = leader(votes);
  if (leading === null) return null;
  if (isLocked(votes, failureRates.length)) return 1;
  const urn = Math.min(winChance(votes, leading, turnout(failureRates)), MAX_WITHOUT_LOCK);
  return record === undefined ? urn : trackRecordSays(record, votes, failureRates.length, urn);
}

/**
 * The probability from the urn alone that `option` wins. `arriving` is the distribution of the number of future votes.
 */
export function winChance(votes: Votes, option: number, arriving: readonly number[]): number {
  const chances = winChances(votes, option, arriving.length - 1);
  return arriving.reduce((sum, chance, arrived) => sum + chance * chances[arrived]!, 0);
}
