import type { PollState, Rules, VotingSeat } from '../src/poll.ts';
import { newPoll, received } from '../src/poll.ts';

export const RULES: Rules = { optionCount: 3, threshold: 0.95, minVotes: 3, maxCostU: 1_000n, hedge: 'one' };

/** Seats of families a, b, c ... unless named; each reserves 10 micro-USD. */
export const seatsOf = (count: number, families = 'abcdefghijklmnopqrstuvwxyz'): VotingSeat[] =>
  Array.from({ length: count }, (_, seat) => ({ family: families[seat]!, reserveU: 10n, failureRate: 0 }));

/** A poll whose first seats have answered: an option each, or null for a failed model. */
export function pollAfter(
  votes: readonly (number | null)[],
  seats: readonly VotingSeat[],
  rules: Partial<Rules> = {},
): PollState {
  return votes.reduce<PollState>(
    (poll, option, seat) => received(poll, { seat, option, billedU: option === null ? 0n : 10n }),
    newPoll({ ...RULES, ...rules }, seats),
  );
}
