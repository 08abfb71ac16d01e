import type { ModelReputation } from '@eloquentpoll/contracts';
import { shareInterval } from '@eloquentpoll/evidence';
import { percent, usd } from '../figures.ts';
import { type Html, html } from '../html.ts';

// The cost of a vote of each model, on a logarithmic scale, against how often it votes like its whole panel. Only one model
// is named, with its interval; the table of /models has the figures of all.

const HEIGHT = 260;
const TOP = 28;
const BOTTOM = 34;
const LEFT = 11;
const RIGHT = 6;

interface Placed {
  id: string;
  cost: number;
  agreed: number;
  votes: number;
}

/** Null if this model has no figures, or is the only one that has. */
export function priceAgreementPlot(id: string, records: readonly ModelReputation[]): Html | null {
  const placed = records.flatMap(({ model_id, average_cost_usd: cost, agreement_rate: agreed, judged }): Placed[] =>
    cost === null || cost <= 0 || agreed === null ? [] : [{ id: model_id, cost, agreed, votes: judged }],
  );
  const own = placed.find((one) => one.id === id);
  if (own === undefined || placed.length < 2) return null;
  const costs = placed.map(({ cost }) => Math.log10(cost));
  const [first, last] = [
    Math.floor(Math.min(...costs)),
    Math.max(Math.floor(Math.min(...costs)) + 1, Math.ceil(Math.max(...costs))),
  ];
  const x = (cost: number) =>
    `${(LEFT + ((100 - LEFT - RIGHT) * (Math.log10(cost) - first)) / (last - first)).toFixed(1)}%`;
  const y = (share: number) => (HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share).toFixed(1);
  const { low, high } = shareInterval(Math.round(own.agreed * own.votes), own.votes);
  const isRight = Math.log10(own.cost) - first > (last - first) / 2;
  return html`<figure class="calibration">
<svg width="100%" height="${HEIGHT}" role="img" aria-label="${id}: ${usd(own.cost)} a vote, ${percent(own.agreed)} of its votes for the option that its panel elected; beside it ${placed.length - 1} other models">
${[0, 0.25, 0.5, 0.75, 1].map(
  (share) => html`<line class="rule" x1="${LEFT}%" x2="${100 - RIGHT}%" y1="${y(share)}" y2="${y(share)}"/>
<text class="up" x="${LEFT}%" dx="-8" y="${y(share)}" dy="4">${percent(share)}</text>`,
)}
${Array.from({ length: last - first + 1 }, (_, i) => first + i).map(
  (power) =>
    html`<text class="along" x="${x(10 ** power)}" y="${HEIGHT - BOTTOM + 20}">$${(10 ** power).toFixed(Math.max(0, -power))}</text>`,
)}
${placed
  .filter((one) => one !== own)
  .map(
    ({ id, cost, agreed }) =>
      html`<circle class="other" cx="${x(cost)}" cy="${y(agreed)}" r="4"><title>${id}: ${usd(cost)} a vote, ${percent(agreed)}</title></circle>`,
  )}
<line class="interval" x1="${x(own.cost)}" x2="${x(own.cost)}" y1="${y(low)}" y2="${y(high)}"/>
<circle cx="${x(own.cost)}" cy="${y(own.agreed)}" r="6"/>
<text class="named" x="${x(own.cost)}" y="16" text-anchor="${isRight ? 'end' : 'start'}">${id}</text>
</svg>
<figcaption class="muted small">Horizontal: mean cost of a vote. Vertical: share of votes for the option that the whole panel elected in audited polls, with the 95% interval of this model.</figcaption>
</figure>`;
}
