import { svg } from './draw.ts';
import { sure } from './why-it-stopped.ts';

// The chart of a running poll: ballots from left to right, how sure the outcome is from bottom to top, the threshold as
// a line, and behind the moment of the stop what was not asked. Places across are percentages, so that it fits any
// width and its words keep their size.

export interface Step {
  received: number;
  confidence: number;
}

export interface Climb {
  steps: readonly Step[];
  total: number;
  threshold: number;
  /** Set when the poll has ended: how many were asked. */
  stoppedAt: number | null;
}

const HEIGHT = 170;
const TOP = 26;
const BOTTOM = 144;

export const newClimb = (): SVGElement => svg('svg', { class: 'climb', width: '100%', height: HEIGHT, role: 'img' });

export function drawClimb(chart: SVGElement, { steps, total, threshold, stoppedAt }: Climb): void {
  const x = (received: number) => `${(1 + (98 * received) / Math.max(1, total)).toFixed(2)}%`;
  const y = (confidence: number) => (BOTTOM - (BOTTOM - TOP) * confidence).toFixed(1);
  const parts: SVGElement[] = [];
  if (stoppedAt !== null && stoppedAt < total) {
    const width = `${((98 * (total - stoppedAt)) / total).toFixed(2)}%`;
    parts.push(svg('rect', { class: 'spared', x: x(stoppedAt), y: TOP - 16, width, height: BOTTOM - TOP + 16 }));
  }
  for (let ballot = 0; ballot <= total; ballot++)
    parts.push(svg('line', { class: 'tick', x1: x(ballot), x2: x(ballot), y1: BOTTOM, y2: BOTTOM + 5 }));
  parts.push(
    svg('line', { class: 'ground', x1: '1%', x2: '99%', y1: BOTTOM, y2: BOTTOM }),
    svg('line', { class: 'threshold', x1: '1%', x2: '99%', y1: y(threshold), y2: y(threshold) }),
    svg('text', { x: '1%', y: Number(y(threshold)) - 6 }, `stops at ${sure(threshold)}`),
    svg('text', { x: '1%', y: HEIGHT - 6 }, 'no ballot yet'),
    svg('text', { x: '99%', y: HEIGHT - 6, 'text-anchor': 'end' }, `all ${total} models`),
  );
  let last: Step = { received: 0, confidence: 0 };
  for (const step of steps) {
    parts.push(
      svg('line', {
        class: 'rise',
        x1: x(last.received),
        x2: x(step.received),
        y1: y(last.confidence),
        y2: y(step.confidence),
      }),
    );
    last = step;
  }
  for (const [i, { received, confidence }] of steps.entries())
    parts.push(
      svg('circle', { class: 'point', cx: x(received), cy: y(confidence), r: i === steps.length - 1 ? 6 : 3.5 }),
    );
  if (stoppedAt !== null && stoppedAt < total) {
    parts.push(svg('line', { class: 'stop', x1: x(stoppedAt), x2: x(stoppedAt), y1: TOP - 16, y2: BOTTOM }));
    const late = stoppedAt / total > 0.6;
    const place = { x: x(stoppedAt), dx: late ? -8 : 8, y: BOTTOM - 10, 'text-anchor': late ? 'end' : 'start' };
    parts.push(svg('text', { ...place, class: 'says' }, `${total - stoppedAt} not asked`));
  }
  chart.replaceChildren(...parts);
  const now = steps.at(-1)?.confidence ?? null;
  chart.setAttribute(
    'aria-label',
    `Confidence ${sure(now)} after ${last.received} of ${total} ballots; it stops at ${sure(threshold)}.`,
  );
}
