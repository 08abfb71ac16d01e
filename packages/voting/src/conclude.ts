// The outcome of an ended poll. Every seat is counted once: requested + skipped = panel.
import { type Chances, chancesOf } from './chances.ts';
import type { PollState } from './poll.ts';
import { confidenceOf, recordUsed, seatsThatAre, tally } from './standing.ts';
import { type ResultStatus, resultStatus, votesMissing } from './status.ts';
import type { TerminationReason } from './stop-rules.ts';
import { isTie, leader } from './tally.ts';
import type { Outcomes } from './track-record.ts';

export interface Conclusion {
  readonly status: ResultStatus;
  /** Null on a tie and without votes. */
  readonly winner: number | null;
  readonly isTie: boolean;
  readonly tally: readonly number[];
  /**
   * The probability that the winner stays if all models vote that have not. Null if there is no winner. Models that
   * failed are among them only if the result is partial.
   */
  readonly confidence: number | null;
  /** The same for each outcome. */
  readonly chances: Chances;
  /** Audited polls in a similar state, from the track record. Null if it was not used. */
  readonly recordUsed: Outcomes | null;
  /** The number of votes that were asked for and ended. */
  readonly requested: number;
  readonly succeeded: number;
  readonly failed: number;
  /** The rest of the panel, including calls that the stop aborted. */
  readonly skipped: number;
  readonly earlyTerminated: boolean;
  readonly reason: TerminationReason | null;
}

/** `reason` comes from the decision to stop. Null if the deadline ended the poll. */
export function conclude(poll: PollState, { reason }: { readonly reason: TerminationReason | null }): Conclusion {
  const ended = reason === null ? withCallsTimedOut(poll) : poll;
  const votes = tally(ended);
  const succeeded = seatsThatAre(ended, 'voted').length;
  const failed = seatsThatAre(ended, 'failed').length;
  const skipped = ended.seats.length - succeeded - failed;
  const status = resultStatus(votes, votesMissing(reason, failed, skipped));
  const judged = status === 'partial' ? withFailedToVote(ended) : ended;
  return {
    status,
    winner: leader(votes),
    isTie: isTie(votes),
    tally: votes,
    confidence: confidenceOf(judged),
    chances: chancesOf(judged),
    recordUsed: recordUsed(judged),
    requested: succeeded + failed,
    succeeded,
    failed,
    skipped,
    earlyTerminated: skipped > 0,
    reason,
  };
}

/** Models that had not answered by the deadline count as failed. */
function withCallsTimedOut(poll: PollState): PollState {
  return {
    ...poll,
    states: poll.states.map((state) => (state.kind === 'in_flight' ? { kind: 'failed', billedU: 0n } : state)),
  };
}

/**
 * Models that failed count as still to vote, and as certain to. Without them a partial result could look certain: the
 * fewer models answer, the fewer could still change the winner.
 */
function withFailedToVote(poll: PollState): PollState {
  const failed = new Set(seatsThatAre(poll, 'failed'));
  return {
    ...poll,
    seats: poll.seats.map((seat, i) => (failed.has(i) ? { ...seat, failureRate: 0 } : seat)),
    states: poll.states.map((state) => (state.kind === 'failed' ? { kind: 'waiting' } : state)),
  };
}
