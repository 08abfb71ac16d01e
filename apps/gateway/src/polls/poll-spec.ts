import { randomBytes } from 'node:crypto';
import type { PollSpec } from '@eloquentpoll/contracts';
import { type Rosters, seatsFor } from '@eloquentpoll/models/rosters';
import { rosterOrder } from '@eloquentpoll/voting';
import type { PollOrder } from './poll-order.ts';

/** Freezes what an order means today: which models, in which order, at which prices. A worker needs nothing else. */
export function specOf(rosters: Rosters, order: PollOrder): PollSpec {
  const { question, options, search } = order;
  // A fast poll asks for the bare choice; the others let the model give its reason first.
  const style = order.roster === 'fast' ? 'choice' : 'rationale';
  const seats = seatsFor(rosters.roster(order.roster), { question, options, search, style });
  const seed = randomBytes(16).toString('hex');
  return {
    question,
    options,
    roster_name: order.roster,
    confidence_threshold: order.confidenceThreshold,
    max_cost_u: order.maxCostU,
    min_votes: order.minVotes,
    search,
    seed,
    seats: rosterOrder(seats, seed).map((seat) => seats[seat]!),
    simulated: rosters.simulated,
  };
}

/** The most that the poll can cost: what its roster can, or what its caller allows. */
export function holdOf(spec: PollSpec): bigint {
  const reserved = spec.seats.reduce((sum, seat) => sum + seat.reserve_u, 0);
  return BigInt(Math.min(spec.max_cost_u, reserved));
}
