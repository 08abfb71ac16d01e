import { createHash } from 'node:crypto';
import type { PanelName } from '@eloquentpoll/contracts';
import type { AskingOrder } from '@eloquentpoll/voting';

/** A panel as its roster file has it. */
export interface AskedPanel {
  panelName: PanelName;
  order: AskingOrder;
  search: boolean;
  simulated: boolean;
  models: readonly { readonly modelId: string; readonly family: string; readonly priceU: bigint }[];
}

/**
 * Names a panel by what the outcome of its polls depends on: its models, and the order that their prices put them in where
 * the order is theirs. Models are listed in that order, equal prices by name.
 */
export function rosterVersionOf({ panelName, order, search, simulated, models }: AskedPanel) {
  const listed = models.toSorted((a, b) => byPrice(order, a, b) || (a.modelId < b.modelId ? -1 : 1));
  // Models of one price are shuffled among each other.
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
