import { confidenceAmong } from './confidence.ts';
import { votesToLock } from './mathematical-lock.ts';
import { type Votes, votesCast, withVotesFor } from './tally.ts';
import type { TrackRecord } from './track-record.ts';

/** The conditions under which confidence may stop a poll. */
export interface Bar {
  readonly threshold: number;
  /** With fewer valid votes than this, confidence never stops a poll. A smaller panel is asked completely. */
  readonly minVotes: number;
  /** The track record of this panel in this order. Without one, only the urn counts. */
  readonly record?: TrackRecord;
}

/** True if these votes, with these models remaining, are enough in number and in confidence. */
export function clears(bar: Bar, votes: Votes, failureRates: readonly number[]): boolean {
  const reached = confidenceAmong(votes, failureRates, bar.record);
  const threshold = bar.record?.isAlarmed ? 1 : bar.threshold;
  return reached !== null && reached >= threshold && votesCast(votes) >= bar.minVotes;
}

/**
 * The smallest number j of further votes such that j more votes for the leader would stop the poll. The first j
 * remaining models are assumed to cast them. Without a unique leader, any of the leading options is used.
 */
export function need(bar: Bar, votes: Votes, failureRates: readonly number[]): number {
  const favourite = votes.indexOf(Math.max(...votes));
  const left = failureRates.length;
  for (let more = 0; more < left; more++)
    if (clears(bar, withVotesFor(votes, favourite, more), failureRates.slice(more))) return more;
  return left;
}

/** The smallest number of further votes for the leader that would stop the poll, by confidence or by a lock. */
export const votesToStop = (bar: Bar, votes: Votes, failureRates: readonly number[]): number =>
  Math.min(need(bar, votes, failureRates), votesToLock(votes, failureRates.length));
