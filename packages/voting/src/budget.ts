// The maximum cost of a poll is checked before every call: the amount billed for ended votes, plus the worst case of
// every running call, plus the worst case of the next call, must fit into the poll's limit.
import type { PollState } from './poll.ts';
import { seatsThatAre } from './standing.ts';

export function spentU(poll: PollState): bigint {
  return poll.states.reduce((sum, state) => ('billedU' in state ? sum + state.billedU : sum), 0n);
}

export function budgetLeftU(poll: PollState): bigint {
  const reservedU = seatsThatAre(poll, 'in_flight').reduce((sum, seat) => sum + poll.seats[seat]!.reserveU, 0n);
  return poll.rules.maxCostU - spentU(poll) - reservedU;
}

/** The next waiting seats that fit together, at most `count`, in order. A seat that does not fit is skipped. */
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

/** True if no call is running and no waiting seat fits. A running call may still turn out cheaper than its reserve. */
export const isBudgetSpent = (poll: PollState): boolean =>
  seatsThatAre(poll, 'in_flight').length === 0 && affordableSeats(poll, 1).length === 0;
