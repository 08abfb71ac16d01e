import { seatsFor } from '@eloquentpoll/models/panels';
import { holdOf, type PollOrder } from '@eloquentpoll/polls';
import { pricePpmOf } from '../../config/list-prices.ts';
import type { PollsContext } from '../../polls/context.ts';
import { pollTextOf } from '../../polls/order/freeze-order.ts';
import { panelInService } from '../../polls/order/panel-in-service.ts';

/** The maximum cost of a poll at current prices, and its hold unless these change. */
export async function worstCaseU(
  context: Pick<PollsContext, 'panels' | 'modelsOut' | 'config'>,
  order: PollOrder,
): Promise<bigint> {
  const panel = await panelInService(context, order);
  const seats = seatsFor(panel, pollTextOf(order), { pricePpm: pricePpmOf(context.config, order) });
  const holdU = holdOf({ seats, max_cost_u: order.max_cost_u });
  return holdU > 1n ? holdU : 1n;
}
