// The current state of a poll, derived from its seats. The order in which votes arrived does not matter.
import { confidenceAmong } from './confidence.ts';
import { isLocked } from './mathematical-lock.ts';
import { oncePerPoll } from './once-per-poll.ts';
import type { PollState, SeatState } from './poll.ts';
import { isTie, leader, type Votes } from './tally.ts';
import { type Outcomes, stoodAlike } from './track-record.ts';

const counted = oncePerPoll(({ rules, seats, states }) => {
  const tally = new Array<number>(rules.optionCount).fill(0);
  const are: Record<SeatState['kind'], number[]> = { waiting: [], in_flight: [], failed: [], voted: [] };
  for (let seat = 0; seat < states.length; seat++) {
    const state = states[seat]!;
    are[state.kind].push(seat);
    if (state.kind === 'voted') tally[state.option]! += 1;
  }
  const unresolved = are.in_flight.concat(are.waiting);
  return { tally, are, unresolved, failureRates: unresolved.map((seat) => seats[seat]!.failureRate) };
});

export const seatsThatAre = (poll: PollState, kind: SeatState['kind']): readonly number[] => counted(poll).are[kind];

/** Votes per option. */
export const tally = (poll: PollState): Votes => counted(poll).tally;

/** Seats whose vote has not ended. Those with a running call come first, because they will answer first. */
export const unresolvedSeats = (poll: PollState): readonly number[] => counted(poll).unresolved;

export const unresolvedFailureRates = (poll: PollState): readonly number[] => counted(poll).failureRates;

/** Null without a unique leader. */
export const confidenceOf = oncePerPoll((poll) =>
  confidenceAmong(tally(poll), unresolvedFailureRates(poll), poll.rules.record),
);

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

/** What is shown while a poll is running. */
export function standing(poll: PollState): Standing {
  const votes = tally(poll);
  return {
    tally: votes,
    leader: leader(votes),
    isTie: isTie(votes),
    confidence: confidenceOf(poll),
    succeeded: seatsThatAre(poll, 'voted').length,
    failed: seatsThatAre(poll, 'failed').length,
    inFlight: seatsThatAre(poll, 'in_flight').length,
    waiting: seatsThatAre(poll, 'waiting').length,
  };
}

/** Audited polls in a similar state, from the track record. Null if it is not used. */
export function recordUsed(poll: PollState): Outcomes | null {
  const votes = tally(poll);
  const left = unresolvedSeats(poll).length;
  const { record } = poll.rules;
  if (record === undefined || leader(votes) === null || isLocked(votes, left)) return null;
  const outcomes = stoodAlike(record, votes, left);
  return outcomes !== undefined && outcomes.polls > 0 ? outcomes : null;
}
