import type { PublishedBand } from '@eloquentpoll/contracts';
import { percent, whole } from '../figures.ts';
import { type Html, html } from '../html.ts';

// Stated confidence against how often it proved right: one dot per band with its interval. Dots above the diagonal did
// better than stated. Positions are percentages of the width, so that lines and letters keep their size on every
// screen.

const HEIGHT = 300;
const TOP = 16;
const BOTTOM = 34;
const LEFT = 11;
const RIGHT = 4;

interface Words {
  label: string;
  verb: string;
  caption: string;
}

const CALIBRATION: Words = {
  label: 'Stated confidence compared with how often it came true; the table below has the figures',
  verb: 'came true',
  caption:
    'Horizontal: stated confidence. Vertical: how often it came true, with its 95% interval. On the dashed line the two are equal; above it, confidence was too low.',
};

export function bandPlot(bands: readonly PublishedBand[], words = CALIBRATION): Html {
  const lowest = Math.min(...bands.flatMap(({ said, low }) => [said, low ?? said]));
  const step = lowest < 0.5 ? 0.2 : 0.1;
  const from = Math.min(0.5, Math.floor(lowest / step) * step);
  const share = (value: number) => (value - from) / (1 - from);
  const x = (value: number) => `${(LEFT + (100 - LEFT - RIGHT) * share(value)).toFixed(1)}%`;
  const y = (value: number) => (HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share(value)).toFixed(1);
  const ticks = Array.from({ length: Math.round((1 - from) / step) + 1 }, (_, i) => from + i * step);
  return html`<figure class="calibration">
<svg width="100%" height="${HEIGHT}" role="img" aria-label="${words.label}">
${ticks.map(
  (tick) => html`<line class="rule" x1="${x(from)}" x2="${x(1)}" y1="${y(tick)}" y2="${y(tick)}"/>
<text class="up" x="${x(from)}" dx="-8" y="${y(tick)}" dy="4">${percent(tick)}</text>
<text class="along" x="${x(tick)}" y="${HEIGHT - BOTTOM + 20}">${percent(tick)}</text>`,
)}
<line class="same" x1="${x(from)}" x2="${x(1)}" y1="${y(from)}" y2="${y(1)}"/>
${bands.map(({ said, came_true, low, high, polls }) => {
  const about = `Said ${percent(said, 1)}, ${words.verb} ${percent(came_true, 1)}, ${whole(polls)} polls`;
  return html`<g><title>${about}</title><line class="interval" x1="${x(said)}" x2="${x(said)}" y1="${y(low ?? came_true)}" y2="${y(high ?? came_true)}"/>
<circle cx="${x(said)}" cy="${y(came_true)}" r="5"/></g>`;
})}
</svg>
<figcaption class="muted small">${words.caption}</figcaption>
</figure>`;
}
