import type { PollSpec } from '@eloquentpoll/contracts';
import { type PollText, promptStyle, seatsFor } from '@eloquentpoll/models/panels';
import { type PollOrder, specOf } from '@eloquentpoll/polls';
import type { PollsContext } from '../context.ts';

/** The spec of an order at this moment's prices and the models' newest records. */
export async function freezeOrder(
  { panels, health }: Pick<PollsContext, 'panels' | 'health'>,
  order: PollOrder,
): Promise<PollSpec> {
  const panel = panels.panel(order.panel_name);
  const records = await health.snapshot(panel.models.map((model) => model.id));
  return specOf(order, { seats: seatsFor(panel, pollTextOf(order), records), simulated: panels.simulated });
}

/** The part of an order that the models will read. */
export const pollTextOf = ({ question, options, search, panel_name }: PollOrder): PollText => ({
  question,
  options,
  search,
  style: promptStyle(panel_name),
});
