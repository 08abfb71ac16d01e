// The most a poll can cost is known before every call: what ended votes were billed, plus the worst case of every call
// in flight, plus the worst case of the next one, must fit into the poll's maximum cost.
import type { PollState } from './poll.ts';
import { seatsThatAre } from './standing.ts';

export function spentU(poll: PollState): bigint {
  return poll.states.reduce((sum, state) => ('billedU' in state ? sum + state.billedU : sum), 0n);
}

export function budgetLeftU(poll: PollState): bigint {
  const reservedU = seatsThatAre(poll, 'in_flight').reduce((sum, seat) => sum + poll.seats[seat]!.reserveU, 0n);
  return poll.rules.maxCostU - spentU(poll) - reservedU;
}

/** The next waiting seats that fit together, at most `count`, in order; one that does not fit is passed over. */
export function affordableSeats(poll: PollState, count: number): number[] {
  let leftU = budgetLeftU(poll);
  const affordable: number[] = [];
  for (const seat of seatsThatAre(poll, 'waiting')) {
    if (affordable.length >= count) break;
    const { reserveU } = poll.seats[seat]!;
    if (reserveU > leftU) continue;
    affordable.push(seat);
    leftU -= reserveU;
  }
  return affordable;
}

/** Nothing is in flight and no seat left fits. While a call is in flight it may still turn out cheaper than reserved. */
export const isBudgetSpent = (poll: PollState): boolean =>
  seatsThatAre(poll, 'in_flight').length === 0 && affordableSeats(poll, 1).length === 0;
