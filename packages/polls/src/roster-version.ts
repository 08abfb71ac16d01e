import { createHash } from 'node:crypto';
import type { PanelName } from '@eloquentpoll/contracts';
import type { AskingOrder } from '@eloquentpoll/voting';

/** A panel as defined by its roster file. */
export interface AskedPanel {
  panelName: PanelName;
  order: AskingOrder;
  search: boolean;
  simulated: boolean;
  models: readonly { readonly modelId: string; readonly family: string; readonly priceU: bigint }[];
}

/**
 * Derives the roster version from what the outcome of the panel's polls depends on: its models and, if it is asked
 * cheapest first, their order by price. Models are listed in that order; equal prices are sorted by name.
 */
export function rosterVersionOf({ panelName, order, search, simulated, models }: AskedPanel) {
  const listed = models.toSorted((a, b) => byPrice(order, a, b) || (a.modelId < b.modelId ? -1 : 1));
  // Models with equal prices are shuffled among each other, so the version does not depend on their order.
  const ranks = listed.map(
    (model, i) => (i > 0 && byPrice(order, listed[i - 1]!, model) < 0 ? '<' : '=') + model.modelId,
  );
  const version = createHash('sha256')
    .update(JSON.stringify([panelName, order, search, ranks]))
    .digest('base64url')
    .slice(0, 16);
  return {
    ...{ version, panelName, order, search, simulated },
    models: listed.map(({ modelId, family }) => ({ modelId, family })),
  };
}

type Priced = Pick<AskedPanel['models'][number], 'priceU'>;

const byPrice = (order: AskingOrder, a: Priced, b: Priced): number =>
  order === 'shuffled' ? 0 : Number(a.priceU - b.priceU);
