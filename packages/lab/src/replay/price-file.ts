import { isJsonObject } from '@eloquentpoll/contracts';
import { Failure } from '@eloquentpoll/launch/failure';

// Prices per call of the models of named panels, in thousandths of a dollar:
//
//   { "note": "...", "by_strength": { "r9": { "model-a": 11.4, ... }, ... }, "as_listed": { ... } }

/** Milli-dollars per call by model. */
export type Prices = ReadonlyMap<string, number>;

export interface PriceFile {
  readonly name: string;
  /** Set name -> panel name -> prices. */
  readonly sets: ReadonlyMap<string, ReadonlyMap<string, Prices>>;
}

export function parsePriceFile(text: string, name: string): PriceFile {
  const refuse = (why: string): never => {
    throw new Failure(`${name}: ${why}`);
  };
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    refuse(error instanceof Error ? error.message : String(error));
  }
  const sets = new Map<string, Map<string, Prices>>();
  for (const [set, panels] of entriesOf(parsed) ?? refuse('expected an object of price sets')) {
    if (typeof panels === 'string') continue;
    const byPanel = new Map<string, Prices>();
    for (const [panel, prices] of entriesOf(panels) ?? refuse(`"${set}" is no object of panels`)) {
      const byModel = new Map<string, number>();
      for (const [model, price] of entriesOf(prices) ?? refuse(`"${set}.${panel}" is no object of prices`)) {
        if (typeof price !== 'number' || !(price >= 0 && price < Number.POSITIVE_INFINITY))
          refuse(`the price of ${model} in "${set}.${panel}" is no number from 0 up`);
        byModel.set(model, Number(price));
      }
      byPanel.set(panel, byModel);
    }
    sets.set(set, byPanel);
  }
  if (sets.size === 0) refuse('expected a price set');
  return { name, sets };
}

/** The prices of a panel: those under its name, or of the first panel of the set that knows all of its models. */
export function pricesOf(
  { name, sets }: PriceFile,
  set: string | undefined,
  panel: { readonly name: string; readonly models: readonly string[] },
): Prices {
  const chosen = set ?? [...sets.keys()][0]!;
  const panels = sets.get(chosen);
  if (panels === undefined)
    throw new Failure(`${name}: no price set "${chosen}"; there are ${[...sets.keys()].join(', ')}`);
  const knowsAll = (prices: Prices | undefined) => prices && panel.models.every((model) => prices.has(model));
  const prices = [panels.get(panel.name), ...panels.values()].find(knowsAll);
  if (prices === undefined) throw new Failure(`${name}: "${chosen}" has no panel with all models of ${panel.name}`);
  return prices;
}

const entriesOf = (value: unknown): [string, unknown][] | null => (isJsonObject(value) ? Object.entries(value) : null);

/** One price for each model, over all panels of a set: the first set in which no model has two, unless one is named. */
export function pricesByModel({ name, sets }: PriceFile, set: string | undefined): Prices {
  const named = [...sets].filter(([one]) => set === undefined || one === set);
  if (named.length === 0) throw new Failure(`${name}: no price set "${set}"; there are ${[...sets.keys()].join(', ')}`);
  for (const [, panels] of named) {
    const entries = [...panels.values()].flatMap((prices) => [...prices]);
    const byModel = new Map(entries);
    if (entries.every(([model, price]) => byModel.get(model) === price)) return byModel;
  }
  throw new Failure(`${name}: a model has several prices in ${named.map(([one]) => `"${one}"`).join(' and ')}`);
}
