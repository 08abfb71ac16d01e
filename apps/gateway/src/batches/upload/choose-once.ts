import type { PollOrder } from '@eloquentpoll/polls';
import type { PollsContext } from '../../polls/context.ts';
import { chooseModels } from '../../polls/order/choose-models.ts';

/** chooseModels for the rows of one upload: each saved panel is read once, so it is the same in all rows. */
export function chooseOnce(context: PollsContext, accountId: string): (order: PollOrder) => Promise<PollOrder> {
  const saved = new Map<string, Promise<readonly string[] | undefined>>();
  return async (order) => {
    const { saved_panel: name } = order;
    if (name === undefined) return chooseModels(context, order, accountId);
    const models = saved.get(name) ?? chooseModels(context, order, accountId).then((chosen) => chosen.models);
    if (!saved.has(name) && saved.size < MAX_KEPT) saved.set(name, models);
    const known = await models;
    return known ? { ...order, models: known } : order;
  };
}

/** An account cannot have more saved panels; further names are looked up each time. */
const MAX_KEPT = 100;
