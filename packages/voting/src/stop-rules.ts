// Why a poll ends. The rules are checked after every vote, in the order of the table. The first that holds is the
// reason.
import { isBudgetSpent } from './budget.ts';
import { isLocked } from './mathematical-lock.ts';
import type { PollState } from './poll.ts';
import { confidenceOf, tally, unresolvedSeats } from './standing.ts';
import { leader, votesCast } from './tally.ts';

export type TerminationReason = 'mathematical_lock' | 'confidence' | 'budget' | 'roster_exhausted';

const STOP_RULES: readonly (readonly [TerminationReason, (poll: PollState) => boolean])[] = [
  ['roster_exhausted', (poll) => unresolvedSeats(poll).length === 0],
  ['mathematical_lock', (poll) => isLocked(tally(poll), unresolvedSeats(poll).length)],
  ['confidence', (poll) => (confidenceThatStops(poll) ?? -1) >= poll.rules.threshold],
  ['budget', isBudgetSpent],
];

/** Null while the poll continues. */
export function stopReason(poll: PollState): TerminationReason | null {
  const rule = STOP_RULES.find(([, holds]) => holds(poll));
  return rule === undefined ? null : rule[0];
}

/** The highest threshold at which confidence would stop the poll in this state. Null if it could not at any. */
function confidenceThatStops(poll: PollState): number | null {
  const { record, minVotes } = poll.rules;
  if (record?.isAlarmed || votesCast(tally(poll)) < minVotes || !leaderHasTwoFamilies(poll)) return null;
  return confidenceOf(poll);
}

/** No remaining vote can change the outcome, whether it is a winner or a tie. */
export function isSettled(poll: PollState): boolean {
  const left = unresolvedSeats(poll).length;
  return left === 0 || isLocked(tally(poll), left);
}

/** The highest threshold at which the poll would stop in this state. Null if it would not stop at any. */
export const highestStop = (poll: PollState): number | null => (isSettled(poll) ? 1 : confidenceThatStops(poll));

/**
 * Models of one family tend to agree. So the leader's voters must come from at least two families if the panel does.
 */
function leaderHasTwoFamilies(poll: PollState): boolean {
  const leading = leader(tally(poll));
  const voters = poll.seats.filter((_, seat) => {
    const state = poll.states[seat]!;
    return state.kind === 'voted' && state.option === leading;
  });
  return isMixed(voters) || !isMixed(poll.seats);
}

const isMixed = (seats: PollState['seats']): boolean => seats.some(({ family }) => family !== seats[0]!.family);
