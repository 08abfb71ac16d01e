// What a poll says when it has ended. Every seat is accounted for once: requested + skipped = panel.
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
  /** Null where there is no winner. */
  readonly confidence: number | null;
  /** Had all models been asked: how likely each outcome is. */
  readonly chances: Chances;
  /** What the track record knew of polls that stood like this; null where it has no say. */
  readonly recordUsed: Outcomes | null;
  /** Votes that were asked and ended. */
  readonly requested: number;
  readonly succeeded: number;
  readonly failed: number;
  /** The rest of the panel, calls that a stop aborted in flight included. */
  readonly skipped: number;
  readonly earlyTerminated: boolean;
  readonly reason: TerminationReason | null;
}

/** `reason` is that of the decision to stop, or null when the deadline ended the poll. */
export function conclude(poll: PollState, { reason }: { readonly reason: TerminationReason | null }): Conclusion {
  const ended = reason === null ? withCallsTimedOut(poll) : poll;
  const votes = tally(ended);
  const succeeded = seatsThatAre(ended, 'voted').length;
  const failed = seatsThatAre(ended, 'failed').length;
  const skipped = ended.seats.length - succeeded - failed;
  return {
    status: resultStatus(votes, votesMissing(reason, failed, skipped)),
    winner: leader(votes),
    isTie: isTie(votes),
    tally: votes,
    confidence: confidenceOf(ended),
    chances: chancesOf(ended),
    recordUsed: recordUsed(ended),
    requested: succeeded + failed,
    succeeded,
    failed,
    skipped,
    earlyTerminated: skipped > 0,
    reason,
  };
}

/** Models that had not answered by the deadline gave no vote. */
function withCallsTimedOut(poll: PollState): PollState {
  return {
    ...poll,
    states: poll.states.map((state) => (state.kind === 'in_flight' ? { kind: 'failed', billedU: 0n } : state)),
  };
}
