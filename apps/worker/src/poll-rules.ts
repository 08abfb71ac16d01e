import type { PollSpec } from '@eloquentpoll/contracts';
import { hedgeOf } from '@eloquentpoll/models/panels';
import type { Rules, Seat } from '@eloquentpoll/voting';

export const rulesOf = (spec: PollSpec): Rules => ({
  optionCount: spec.options.length,
  threshold: spec.confidence_threshold,
  maxCostU: BigInt(spec.max_cost_u),
  minVotes: spec.min_votes,
  hedge: hedgeOf(spec.panel_name),
});

export const seatsOf = (spec: PollSpec): Seat[] =>
  spec.seats.map((seat) => ({
    family: seat.family,
    reserveU: BigInt(seat.reserve_u),
    failureRate: seat.failure_rate,
  }));
