// The rolling fan-out: no waves and no barriers. The number of calls to keep running is computed anew after every vote.
// Fewer would make the poll wait, more would ask models whose vote is not needed.
import { affordableSeats } from './budget.ts';
import { votesToStop } from './need.ts';
import type { Hedge, PollState } from './poll.ts';
import { seatsThatAre, tally, unresolvedFailureRates } from './standing.ts';

/** How many calls a poll should keep running: those that it needs, plus the hedge against slow ones. */
export function wantedInFlight(hedge: Hedge, needed: number, remaining: number, slow: boolean): number {
  // If only the family guard keeps the poll from stopping, the need is 0, although one more vote is required.
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

/** Seats to ask now, in order. Seats that do not fit into the budget are skipped. */
export function nextLaunch(poll: PollState, slow: boolean): number[] {
  // Once all seats have been asked, this returns early, because computing the need is expensive.
  if (seatsThatAre(poll, 'waiting').length === 0) return [];
  const rates = unresolvedFailureRates(poll);
  const { hedge } = poll.rules;
  const needed = hedge === 'all' ? rates.length : votesToStop(poll.rules, tally(poll), rates);
  const wanted = wantedInFlight(hedge, needed, rates.length, slow);
  return affordableSeats(poll, wanted - seatsThatAre(poll, 'in_flight').length);
}
