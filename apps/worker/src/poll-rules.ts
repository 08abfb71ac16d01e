import type { PollSpec, RosterName } from '@eloquentpoll/contracts';
import type { Hedge, Rules, Seat } from '@eloquentpoll/voting';

/** How many models are asked beyond those that are needed: the price of not waiting for the slowest. */
const HEDGE: Record<RosterName, Hedge> = {
  fast: 'all',
  broad: 'one',
  strong: 'when_slow',
  free: 'one',
  free_search: 'one',
};

export const rulesOf = (spec: PollSpec): Rules => ({
  optionCount: spec.options.length,
  threshold: spec.confidence_threshold,
  maxCostU: BigInt(spec.max_cost_u),
  minVotes: spec.min_votes,
  hedge: HEDGE[spec.roster_name],
});

export const seatsOf = (spec: PollSpec): Seat[] =>
  spec.seats.map((seat) => ({
    family: seat.family,
    reserveU: BigInt(seat.reserve_u),
    failureRate: seat.failure_rate,
  }));
