import { confidenceAmong } from './confidence.ts';
import { type Votes, votesCast, withVotesFor } from './tally.ts';
import type { TrackRecord } from './track-record.ts';

/** What confidence has to reach before it may stop a poll. */
export interface Bar {
  readonly threshold: number;
  /** Valid votes below which confidence never stops a poll; a smaller panel just runs to its end. */
  readonly minVotes: number;
  /** Of this panel in this order; without one the urn speaks alone. */
  readonly record?: TrackRecord;
}

/** True when these votes, with these models left, are enough votes and enough confidence. */
export function clears(bar: Bar, votes: Votes, failureRates: readonly number[]): boolean {
  const reached = confidenceAmong(votes, failureRates, bar.record);
  const threshold = bar.record?.isAlarmed ? 1 : bar.threshold;
  return reached !== null && reached >= threshold && votesCast(votes) >= bar.minVotes;
}

/**
 * The fewest further votes that could end the poll: the smallest j such that j more votes for the leader clear the bar.
 * The first j models left are the ones that give them. Without a unique leader any of the front-runners stands in.
 */
export function need(bar: Bar, votes: Votes, failureRates: readonly number[]): number {
  const favourite = votes.indexOf(Math.max(...votes));
  const left = failureRates.length;
  for (let more = 0; more < left; more++)
    if (clears(bar, withVotesFor(votes, favourite, more), failureRates.slice(more))) return more;
  return left;
}
