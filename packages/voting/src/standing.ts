// Where a poll stands, derived from its seats: the order in which votes arrived makes no difference.
import { confidenceAmong } from './confidence.ts';
import { isLocked } from './mathematical-lock.ts';
import type { PollState, SeatState } from './poll.ts';
import { isTie, leader } from './tally.ts';
import { type Outcomes, stoodAlike } from './track-record.ts';

export const seatsThatAre = (poll: PollState, kind: SeatState['kind']): number[] =>
  poll.states.flatMap((state, seat) => (state.kind === kind ? [seat] : []));

/** Votes per option. */
export function tally(poll: PollState): number[] {
  const votes = new Array<number>(poll.rules.optionCount).fill(0);
  for (const state of poll.states) if (state.kind === 'voted') votes[state.option]! += 1;
  return votes;
}

/** Seats whose vote has not ended; those in flight come first, because they answer first. */
export const unresolvedSeats = (poll: PollState): number[] => [
  ...seatsThatAre(poll, 'in_flight'),
  ...seatsThatAre(poll, 'waiting'),
];

export const unresolvedFailureRates = (poll: PollState): number[] =>
  unresolvedSeats(poll).map((seat) => poll.seats[seat]!.failureRate);

export interface Standing {
  readonly tally: readonly number[];
  readonly leader: number | null;
  readonly isTie: boolean;
  /** Null without a unique leader. */
  readonly confidence: number | null;
  readonly succeeded: number;
  readonly failed: number;
  readonly inFlight: number;
  readonly waiting: number;
}

/** What a watcher of a running poll is shown. */
export function standing(poll: PollState): Standing {
  const votes = tally(poll);
  return {
    tally: votes,
    leader: leader(votes),
    isTie: isTie(votes),
    confidence: confidenceAmong(votes, unresolvedFailureRates(poll), poll.rules.record),
    succeeded: seatsThatAre(poll, 'voted').length,
    failed: seatsThatAre(poll, 'failed').length,
    inFlight: seatsThatAre(poll, 'in_flight').length,
    waiting: seatsThatAre(poll, 'waiting').length,
  };
}

/** What the track record knew of polls that stood like this one; null where it has no say. */
export function recordUsed(poll: PollState): Outcomes | null {
  const votes = tally(poll);
  const left = unresolvedSeats(poll).length;
  const { record } = poll.rules;
  if (record === undefined || leader(votes) === null || isLocked(votes, left)) return null;
  const outcomes = stoodAlike(record, votes, left);
  return outcomes !== undefined && outcomes.polls > 0 ? outcomes : null;
}
