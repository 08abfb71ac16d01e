import { usd } from './figures.ts';
import { type Html, html } from './html.ts';
import { OPTION_COUNTS, type PollPrice } from './price-list.ts';

// Pairs of bars by number of options: what asking every model would cost, and what is expected. The numbers are in the
// table beside it, so for who cannot see it the chart is one sentence.

const WIDTH = 340;
const HEIGHT = 150;
const LEFT = 4;
const TOP = 22;
const BOTTOM = 22;

export function priceChart(preset: string, prices: readonly PollPrice[]): Html {
  const highest = Math.max(...prices.map(({ wholeUsd }) => wholeUsd), Number.MIN_VALUE);
  const space = HEIGHT - TOP - BOTTOM;
  const group = (WIDTH - LEFT) / prices.length;
  const width = group * 0.36;
  const column = (amount: number, x: number, kind: string) => {
    const height = (space * amount) / highest;
    return html`<rect class="${kind}" x="${place(x)}" y="${place(TOP + space - height)}" width="${place(width)}" height="${place(height)}" rx="2"/>`;
  };
  return html`<svg class="price-chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${summary(preset, prices)}">
<text x="${LEFT}" y="12">${usd(highest)}</text>
<line x1="${LEFT}" x2="${WIDTH}" y1="${TOP}" y2="${TOP}"/>
<line class="ground" x1="${LEFT}" x2="${WIDTH}" y1="${TOP + space}" y2="${TOP + space}"/>
${prices.map(({ estimate, wholeUsd }, i) => {
  const x = LEFT + i * group + group * 0.1;
  return html`${column(wholeUsd, x, 'whole')}${column(estimate.cost_usd.expected, x + width + 1, 'expected')}
<text class="tick" x="${place(x + width)}" y="${HEIGHT - 6}">${OPTION_COUNTS[i]!}</text>
`;
})}</svg>`;
}

function summary(preset: string, prices: readonly PollPrice[]): string {
  const [first, last] = [prices[0]!, prices.at(-1)!];
  const said = ({ estimate, wholeUsd }: PollPrice) =>
    `${usd(estimate.cost_usd.expected)} instead of ${usd(wholeUsd)} with ${estimate.options} options`;
  return `Expected cost of a ${preset} poll beside the cost of asking every model: ${said(first)}, ${said(last)}.`;
}

const place = (value: number): string => value.toFixed(1);
