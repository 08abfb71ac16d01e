import { usd } from './figures.ts';
import { type Html, html } from './html.ts';
import type { PollPrice } from './price-list.ts';

// The cost of 1,000 polls by panel on one logarithmic scale: the expected cost, and the cost of asking every model.
// Positions are percentages of the width, so that lines and letters keep their size on every screen.

const POLLS = 1_000;

export interface PriceScale {
  /** Powers of ten, in US dollars. */
  ticks: readonly number[];
  /** In percent of the width. */
  placeOf(amountUsd: number): string;
}

export const perThousand = (amountUsd: number): number => POLLS * amountUsd;

/** A scale that contains every amount and spans at least one decade. */
export function priceScale(prices: readonly PollPrice[]): PriceScale {
  const amounts = prices
    .flatMap(({ estimate, wholeUsd }) => [perThousand(estimate.cost_usd.expected), perThousand(wholeUsd)])
    .filter((amount) => amount > 0);
  const [low, high] = amounts.length === 0 ? [1, 10] : [Math.min(...amounts), Math.max(...amounts)];
  const first = Math.floor(Math.log10(low));
  const last = Math.max(first + 1, Math.ceil(Math.log10(high)));
  const share = (amount: number) => (Math.log10(Math.max(amount, 10 ** first)) - first) / (last - first);
  return {
    ticks: Array.from({ length: last - first + 1 }, (_, i) => Number((10 ** (first + i)).toPrecision(1))),
    placeOf: (amount) => `${(4 + 92 * share(amount)).toFixed(1)}%`,
  };
}

export const priceAxis = ({ ticks, placeOf }: PriceScale): Html =>
  html`<svg class="price-chart" width="100%" height="18" aria-hidden="true">${ticks.map(
    (tick) => html`<text class="tick" x="${placeOf(tick)}" y="13">$${tick}</text>`,
  )}</svg>`;

export function priceLine(panel: string, { estimate, wholeUsd }: PollPrice, { ticks, placeOf }: PriceScale): Html {
  const [expected, whole] = [perThousand(estimate.cost_usd.expected), perThousand(wholeUsd)];
  const label = `Expected cost of a thousand ${panel} polls: ${usd(expected)}, and ${usd(whole)} if every model was asked.`;
  return html`<svg class="price-chart" width="100%" height="24" role="img" aria-label="${label}">
${ticks.map((tick) => html`<line x1="${placeOf(tick)}" x2="${placeOf(tick)}" y1="0" y2="24"/>`)}
<line class="ground" x1="${placeOf(expected)}" x2="${placeOf(whole)}" y1="12" y2="12"/>
<circle class="whole" cx="${placeOf(whole)}" cy="12" r="6"/><circle class="expected" cx="${placeOf(expected)}" cy="12" r="6"/>
</svg>`;
}
