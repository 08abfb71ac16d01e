import { randomBytes } from 'node:crypto';
import type { PollSpec } from '@eloquentpoll/contracts';
import { type BallotPaper, ballotStyle, seatsFor } from '@eloquentpoll/models/rosters';
import { rosterOrder } from '@eloquentpoll/voting';
import type { Context } from '../context.ts';
import type { PollOrder } from './poll-order.ts';

/** Freezes what an order means today: which models, in which order, at which prices. A worker needs nothing else. */
export async function specOf(
  { rosters, health }: Pick<Context, 'rosters' | 'health'>,
  order: PollOrder,
): Promise<PollSpec> {
  const roster = rosters.roster(order.roster);
  const records = await health.snapshot(roster.models.map((model) => model.id));
  const seats = seatsFor(roster, paperOf(order), records);
  const seed = randomBytes(16).toString('hex');
  return {
    question: order.question,
    options: order.options,
    roster_name: order.roster,
    confidence_threshold: order.confidenceThreshold,
    max_cost_u: order.maxCostU,
    ...(order.maxCostUsd !== undefined && { max_cost_usd: order.maxCostUsd }),
    min_votes: order.minVotes,
    search: order.search,
    seed,
    seats: rosterOrder(seats, seed).map((seat) => seats[seat]!),
    simulated: rosters.simulated,
  };
}

/** What the models will read of it. */
export const paperOf = ({ question, options, search, roster }: PollOrder): BallotPaper => ({
  question,
  options,
  search,
  style: ballotStyle(roster),
});

/** The most that the poll can cost: what its roster can, or what its caller allows. */
export function holdOf({ seats, max_cost_u }: Pick<PollSpec, 'seats' | 'max_cost_u'>): bigint {
  const reserved = seats.reduce((sum, seat) => sum + seat.reserve_u, 0);
  return BigInt(Math.min(max_cost_u, reserved));
}
