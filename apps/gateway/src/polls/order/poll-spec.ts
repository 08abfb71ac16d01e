import { randomBytes } from 'node:crypto';
import type { PollSpec } from '@eloquentpoll/contracts';
import { type PollText, promptStyle, seatsFor } from '@eloquentpoll/models/panels';
import { panelOrder } from '@eloquentpoll/voting';
import type { PollsContext } from '../context.ts';
import type { PollOrder } from './poll-order.ts';

/** Freezes what an order means today: which models, in which order, at which prices. A worker needs nothing else. */
export async function specOf(
  { panels, health }: Pick<PollsContext, 'panels' | 'health'>,
  order: PollOrder,
): Promise<PollSpec> {
  const panel = panels.panel(order.panel);
  const records = await health.snapshot(panel.models.map((model) => model.id));
  const seats = seatsFor(panel, pollTextOf(order), records);
  const seed = randomBytes(16).toString('hex');
  return {
    question: order.question,
    options: order.options,
    panel_name: order.panel,
    confidence_threshold: order.confidenceThreshold,
    max_cost_u: order.maxCostU,
    ...(order.maxCostUsd !== undefined && { max_cost_usd: order.maxCostUsd }),
    min_votes: order.minVotes,
    search: order.search,
    seed,
    seats: panelOrder(seats, seed).map((seat) => seats[seat]!),
    simulated: panels.simulated,
  };
}

/** What the models will read of it. */
export const pollTextOf = ({ question, options, search, panel }: PollOrder): PollText => ({
  question,
  options,
  search,
  style: promptStyle(panel),
});

/** The most that the poll can cost: what its panel can, or what its caller allows. */
export function holdOf({ seats, max_cost_u }: Pick<PollSpec, 'seats' | 'max_cost_u'>): bigint {
  const reserved = seats.reduce((sum, seat) => sum + seat.reserve_u, 0);
  return BigInt(Math.min(max_cost_u, reserved));
}
