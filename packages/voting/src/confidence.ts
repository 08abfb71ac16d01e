// The exact probability that the current leader is the unique winner once every model left has voted or failed. It
// speaks about the panel ("the full panel would elect this"), never about the truth of the answer.
import { isLocked } from './mathematical-lock.ts';
import { leader, type Votes } from './tally.ts';
import { type TrackRecord, trackRecordSays } from './track-record.ts';
import { turnout } from './turnout.ts';
import { winChances } from './urn.ts';

/** Only a lock is certain: everything else stays below 1, so that a threshold of 1 means "lock only". */
const MAX_WITHOUT_LOCK = 1 - 1e-12;

/** Confidence with `remaining` models that each fail with probability `phi`. Null without a unique leader. */
export function confidence(votes: Votes, remaining: number, phi = 0): number | null {
  return confidenceAmong(votes, new Array<number>(remaining).fill(phi));
}

/**
 * The same where each model left has a failure rate of its own. Models in flight are models left. A track record can
 * only lower what the urn says.
 */
export function confidenceAmong(votes: Votes, failureRates: readonly number[], record?: TrackRecord): number | null {
  const leading = leader(votes);
  if (leading === null) return null;
  if (isLocked(votes, failureRates.length)) return 1;
  const urn = Math.min(winChance(votes, leading, turnout(failureRates)), MAX_WITHOUT_LOCK);
  return record === undefined ? urn : trackRecordSays(record, votes, failureRates.length, urn);
}

/** By the urn alone: `option` wins, where `arriving` is the distribution of the number of votes to come. */
export function winChance(votes: Votes, option: number, arriving: readonly number[]): number {
  const chances = winChances(votes, option, arriving.length - 1);
  return arriving.reduce((sum, chance, arrived) => sum + chance * chances[arrived]!, 0);
}
