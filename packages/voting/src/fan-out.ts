// The rolling fan-out: no waves and no barriers, only a number of calls to keep in flight that is worked out again on
// every vote. Fewer would make the poll wait, more would ask models whose vote is not needed.
import { affordableSeats } from './budget.ts';
import { need } from './need.ts';
import type { Hedge, PollState } from './poll.ts';
import { seatsThatAre, tally, unresolvedFailureRates } from './standing.ts';

/** How many calls a poll that goes on wants in flight: what it needs, and the hedge against slow ones. */
export function wantedInFlight(hedge: Hedge, needed: number, remaining: number, slow: boolean): number {
  // Where only the family guard holds the poll back nothing seems to be needed, and yet the next vote is.
  const atLeast = Math.max(1, needed);
  switch (hedge) {
    case 'all':
      return remaining;
    case 'one':
      return atLeast + 1;
    case 'when_slow':
      return slow ? atLeast + 1 : atLeast;
    case 'none':
      return atLeast;
  }
}

/** Seats to ask now, in order. A seat that the budget does not allow is passed over for one that it does. */
export function nextLaunch(poll: PollState, slow: boolean): number[] {
  // After each vote of a poll that has asked everyone, and the need is the costly part.
  if (seatsThatAre(poll, 'waiting').length === 0) return [];
  const rates = unresolvedFailureRates(poll);
  const { hedge } = poll.rules;
  const needed = hedge === 'all' ? rates.length : need(poll.rules, tally(poll), rates);
  const wanted = wantedInFlight(hedge, needed, rates.length, slow);
  return affordableSeats(poll, wanted - seatsThatAre(poll, 'in_flight').length);
}
