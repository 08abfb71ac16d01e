import type { PollSpec } from '@eloquentpoll/contracts';
import { type PollText, promptStyle, seatsFor } from '@eloquentpoll/models/panels';
import { type PollOrder, specOf } from '@eloquentpoll/polls';
import { pricePpmOf } from '../../config/list-prices.ts';
import type { PollsContext } from '../context.ts';

/** The spec of an order at this moment's prices and the models' newest records. */
export async function freezeOrder(
  { panels, health, config }: Pick<PollsContext, 'panels' | 'health' | 'config'>,
  order: PollOrder,
  caller?: string,
): Promise<PollSpec> {
  const panel = panels.panelOf(order);
  const records = await health.snapshot(panel.models.map((model) => model.id));
  const pricePpm = pricePpmOf(config, order.panel_name);
  const seats = seatsFor(panel, pollTextOf(order), { records, pricePpm });
  return specOf(order, { seats, simulated: panels.simulated, pricePpm, caller });
}

/** The part of an order that the models will read. */
export const pollTextOf = (order: PollOrder): PollText => ({
  question: order.question,
  options: order.options,
  search: order.search,
  style: promptStyle(order),
});
