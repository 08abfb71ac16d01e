import type { PollSpec } from '@eloquentpoll/contracts';
import { type PollText, promptStyle, seatsFor } from '@eloquentpoll/models/panels';
import { deadlineMsOf, type PollOrder, specOf } from '@eloquentpoll/polls';
import { pricePpmOf } from '../../config/list-prices.ts';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';
import type { AskingNow } from './asking-now.ts';

const NO_MODELS = 'This service has no open-weight models and runs no free polls; polls with an API key are answered.';
const NO_SEARCH = 'No model of this panel searches the web here; ask without a search theme, or another panel.';

/** The spec of an order, with current prices and the models' latest health. */
export async function freezeOrder(
  { panels, health, config }: Pick<PollsContext, 'panels' | 'health' | 'config'>,
  order: PollOrder,
  asking: AskingNow,
  caller?: string,
): Promise<PollSpec> {
  const { panel } = asking;
  if (panel.models.length === 0) throw new ApiError('not_configured', { detail: NO_MODELS });
  // Without this check, a poll that asked for web search would be answered without it and charged all the same.
  if (order.search && panel.models.every(({ search }) => search === null))
    throw new ApiError('not_configured', { detail: NO_SEARCH });
  const records = await health.snapshot(panel.models.map((model) => model.id));
  const pricePpm = pricePpmOf(config, order);
  const seats = seatsFor(panel, pollTextOf(order), { records, pricePpm });
  const keptS = Math.min(order.expires_in ?? config.retentionS, config.retentionS);
  const expiresAt = new Date(Date.now() + deadlineMsOf(order) + 1_000 * keptS);
  return specOf(order, { seats, simulated: panels.simulated, pricePpm, caller, expiresAt, asking });
}

/** The part of an order that models read. */
export const pollTextOf = (order: PollOrder): PollText => ({
  question: order.question,
  options: order.options,
  search: order.search,
  style: promptStyle(order),
});
