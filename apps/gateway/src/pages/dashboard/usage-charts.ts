import { seconds, usd } from '../figures.ts';
import { type Html, html } from '../html.ts';
import { MAX_PARTS, type UsageDay } from './read-usage-view.ts';

// One bar per day, split into the groups of the table, with the median time of its polls below. Positions are
// percentages of the width, so that lines and letters keep their size on every screen.

const HEIGHT = 210;
const LINE_HEIGHT = 110;
const TOP = 12;
const BOTTOM = 24;
const LEFT = 8;

export const colourOf = (place: number): string => (place < MAX_PARTS ? `colour-${place}` : 'colour-other');

export function spendChart(days: readonly UsageDay[], names: readonly string[]): Html {
  const max = niceMax(Math.max(...days.map(({ cost_usd }) => cost_usd)));
  const total = days.reduce((sum, { cost_usd }) => sum + cost_usd, 0);
  return html`<figure class="usage-chart">
<svg width="100%" height="${HEIGHT}" role="img" aria-label="Spend per day: ${usd(total)} in ${days.length} days, at most ${usd(max)} on one.">
${axis(max, HEIGHT, usd)}${days.map((day, i) => bar(day, { max, ...placeOf(i, days.length) }))}${dayNames(days, HEIGHT)}</svg>
<figcaption class="legend small">${names.map((name, i) => html`<span class="${colourOf(i)}"><span class="dot"></span><bdi>${name}</bdi></span> `)}</figcaption>
</figure>`;
}

interface Place {
  max: number;
  /** In percent of the width. */
  x: number;
  width: number;
}

function bar(day: UsageDay, { max, x, width }: Place): Html {
  const shown = day.parts.reduce((sum, part) => sum + part, 0);
  const parts = [
    ...day.parts,
    ...Array<number>(MAX_PARTS - day.parts.length).fill(0),
    Math.max(0, day.cost_usd - shown),
  ];
  let bottom = HEIGHT - BOTTOM;
  const rects = parts.map((cost, i) => {
    const height = ((HEIGHT - TOP - BOTTOM) * cost) / max;
    bottom -= height;
    return cost < max / 1e6
      ? html``
      : html`<rect class="${colourOf(i)}" x="${x.toFixed(2)}%" width="${width.toFixed(2)}%" y="${bottom.toFixed(1)}" height="${height.toFixed(1)}"/>`;
  });
  return html`<g><title>${day.day}: ${usd(day.cost_usd)}, ${day.polls} polls</title>${rects}<rect class="reach" x="${x.toFixed(2)}%" width="${width.toFixed(2)}%" y="${TOP}" height="${HEIGHT - TOP - BOTTOM}"/></g>
`;
}

/** Null if no day has a median. */
export function medianChart(days: readonly UsageDay[]): Html | null {
  const points = days.flatMap(({ day, median_ms }, i) => {
    const { x, width } = placeOf(i, days.length);
    return median_ms === null ? [] : [{ i, day, ms: median_ms, x: x + width / 2 }];
  });
  if (points.length === 0) return null;
  const max = niceMax(Math.max(...points.map(({ ms }) => ms)));
  const y = (ms: number) => LINE_HEIGHT - BOTTOM - ((LINE_HEIGHT - TOP - BOTTOM) * ms) / max;
  return html`<figure class="usage-chart">
<svg width="100%" height="${LINE_HEIGHT}" role="img" aria-label="Median time of a poll, day by day: at most ${seconds(max)}.">
${axis(max, LINE_HEIGHT, seconds)}${points.slice(1).map(({ i, x, ms }, k) => {
  const from = points[k]!;
  // A day without polls is a gap.
  return i - from.i > 1
    ? html``
    : html`<line class="median" x1="${from.x.toFixed(2)}%" y1="${y(from.ms).toFixed(1)}" x2="${x.toFixed(2)}%" y2="${y(ms).toFixed(1)}"/>\n`;
})}${points.map(({ day, ms, x }) => html`<circle class="median" cx="${x.toFixed(2)}%" cy="${y(ms).toFixed(1)}" r="3"><title>${day}: ${seconds(ms)}</title></circle>\n`)}${dayNames(days, LINE_HEIGHT)}</svg>
</figure>`;
}

function placeOf(i: number, count: number): { x: number; width: number } {
  const step = (100 - LEFT) / count;
  const gap = Math.min(1, step / 4);
  return { x: LEFT + i * step + gap / 2, width: step - gap };
}

/** A round number, at least `value`, whose half is round too. */
function niceMax(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].find((each) => each * power >= value * 0.999_999)!;
  return Number((factor * power).toPrecision(3));
}

const axis = (max: number, height: number, write: (value: number) => string): Html =>
  html`${[0, 0.5, 1].map((share) => {
    const y = (height - BOTTOM - (height - TOP - BOTTOM) * share).toFixed(1);
    return html`<line class="rule" x1="${LEFT}%" x2="100%" y1="${y}" y2="${y}"/><text class="up" x="${LEFT}%" dx="-6" y="${y}" dy="4">${write(max * share)}</text>
`;
  })}`;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Labels the first and the last day, and one in between. */
function dayNames(days: readonly UsageDay[], height: number): Html {
  const last = days.length - 1;
  return html`${[0, Math.floor(last / 2), last].map((i, place) => {
    const { x, width } = placeOf(i, days.length);
    const [, month, day] = days[i]!.day.split('-');
    const anchor = ['start', 'middle', 'end'][place]!;
    const at = [x, x + width / 2, x + width][place]!;
    return html`<text text-anchor="${anchor}" x="${at.toFixed(2)}%" y="${height - 6}">${Number(day)} ${MONTHS[Number(month) - 1]!}</text>
`;
  })}`;
}
