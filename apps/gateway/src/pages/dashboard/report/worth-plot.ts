import type { BatchReportPanel, MeasuredShare } from '@eloquentpoll/contracts';
import { percent, usd } from '../../figures.ts';
import { type Html, html } from '../../html.ts';

// Cost of a poll against how often it is right: the panel at each threshold, and each model alone. Up and left is
// better. Positions are percentages of the width, so that lines and letters keep their size on every screen.

const HEIGHT = 320;
const TOP = 16;
const BOTTOM = 34;
const LEFT = 11;
const RIGHT = 4;
const NAME_HEIGHT = 16;
/** Distance from the centre of the largest mark to a label beside it. */
const BESIDE = 12;

interface Point {
  name: string;
  cost: number;
  right: MeasuredShare;
}

export function worthPlot(panel: BatchReportPanel): Html {
  const [asked, ...others] = panel.thresholds.flatMap(({ confidence_threshold, accuracy, cost_usd }): Point | [] =>
    accuracy === null || cost_usd === null || accuracy.of === 0
      ? []
      : {
          name: confidence_threshold === null ? 'as asked' : `threshold ${confidence_threshold}`,
          cost: cost_usd / accuracy.of,
          right: accuracy,
        },
  );
  if (asked === undefined) return html``;
  const models = panel.models.flatMap(({ model_id, asked: votes, accuracy, cost_usd }): Point | [] =>
    votes === 0 ? [] : { name: model_id, cost: cost_usd / votes, right: accuracy },
  );
  const all = [asked, ...others, ...models];
  const most = niceAbove(Math.max(...all.map(({ cost }) => cost)));
  const lowest = Math.floor(10 * Math.min(...all.map(({ right }) => right.low!))) / 10;
  const highest = Math.max(lowest + 0.1, Math.ceil(10 * Math.max(...all.map(({ right }) => right.high!))) / 10);
  const x = (cost: number) => `${(LEFT + ((100 - LEFT - RIGHT) * cost) / most).toFixed(1)}%`;
  const y = (share: number) =>
    (HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (share - lowest)) / (highest - lowest)).toFixed(1);
  const rules = Array.from({ length: Math.round((highest - lowest) * 10) + 1 }, (_, i) => lowest + i / 10);
  const line = [...others].sort((a, b) => a.cost - b.cost);
  const mark = ({ name, cost, right }: Point, kind: string, radius: number) =>
    html`<g class="${kind}"><title>${name}: ${usd(cost)}, right in ${percent(right.share, 1)} (${percent(right.low, 1)} to ${percent(right.high, 1)})</title><line class="interval" x1="${x(cost)}" x2="${x(cost)}" y1="${y(right.low!)}" y2="${y(right.high!)}"/>
<circle cx="${x(cost)}" cy="${y(right.share!)}" r="${radius}"/></g>
`;
  /** If an interval reaches down to the axis, its label goes beside the line, to stay clear of the axis figures. */
  const label = ({ name, cost, right }: Point, down: boolean) => {
    const isLeft = cost > most / 2;
    const isBeside = down && Number(y(right.low!)) + NAME_HEIGHT > HEIGHT - BOTTOM;
    const dx = isBeside ? (isLeft ? -BESIDE : BESIDE) : 0;
    const dy = isBeside || !down ? -6 : NAME_HEIGHT;
    return html`<text class="named" x="${x(cost)}" y="${y(down ? right.low! : right.high!)}" dx="${dx}" dy="${dy}" text-anchor="${isLeft ? 'end' : 'start'}">${name}</text>
`;
  };
  const best = models.reduce<Point | null>(
    (most, one) => (most && most.right.share! >= one.right.share! ? most : one),
    null,
  );
  return html`<figure class="calibration worth">
<svg width="100%" height="${HEIGHT}" role="img" aria-label="Cost of a poll against how often it is right, at each threshold and for each model alone; the tables below have the figures">
${rules.map(
  (rule) => html`<line class="rule" x1="${x(0)}" x2="${x(most)}" y1="${y(rule)}" y2="${y(rule)}"/>
<text class="up" x="${x(0)}" dx="-8" y="${y(rule)}" dy="4">${percent(rule)}</text>`,
)}
${[0, 0.25, 0.5, 0.75, 1].map((part) => html`<text class="along${part === 0.25 || part === 0.75 ? ' wide-only' : ''}" x="${x(part * most)}" y="${HEIGHT - BOTTOM + 20}">${usd(part * most)}</text>`)}
${models.map((model) => mark(model, 'model', 4))}${line.slice(1).map(
  (
    point,
    i,
  ) => html`<line class="course" x1="${x(line[i]!.cost)}" y1="${y(line[i]!.right.share!)}" x2="${x(point.cost)}" y2="${y(point.right.share!)}"/>
`,
)}${others.map((point) => mark(point, 'threshold', 4))}${mark(asked, 'asked', 7)}${label(asked, true)}${line[0] && line[0].cost < asked.cost ? label(line[0], true) : ''}${best ? label(best, false) : ''}
</svg>
<figcaption class="muted small">Across: cost of a poll. Up: how often it was right, with its 95% interval. <span class="key asked"></span> as asked, <span class="key threshold"></span> other thresholds, <span class="key model"></span> one model alone${panel.models.some(({ asked: votes }) => votes < panel.polls) ? ', on the polls in which it was asked' : ''}.</figcaption>
</figure>`;
}

/** The next larger amount whose quarters are short numbers too. */
function niceAbove(amount: number): number {
  if (amount <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(amount));
  return [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10].map((digit) => digit * power).find((nice) => nice >= amount)!;
}
