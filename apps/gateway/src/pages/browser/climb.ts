import { sure } from './why-it-stopped.ts';

// The confidence chart as shapes: votes on the x axis in percent, confidence on the y axis, the threshold, and the part
// that was not asked. The result page renders them as HTML, the running poll's view as DOM nodes.

export interface ClimbStep {
  received: number;
  confidence: number;
}

export interface Climb {
  steps: readonly ClimbStep[];
  total: number;
  threshold: number;
  /** How many models were asked; null while the poll runs. */
  stoppedAt: number | null;
}

export interface Shape {
  name: 'rect' | 'line' | 'circle' | 'text';
  attributes: Record<string, string | number>;
  text: string;
}

export const CLIMB_HEIGHT = 170;
const TOP = 26;
const BOTTOM = 144;

const shape = (name: Shape['name'], attributes: Shape['attributes'], text = ''): Shape => ({ name, attributes, text });

export function climbLabel({ steps, total, threshold }: Climb): string {
  const last = steps.at(-1);
  return `Confidence ${sure(last?.confidence ?? null)} after ${last?.received ?? 0} of ${total} votes; it stops at ${sure(threshold)}.`;
}

export function climbShapes({ steps, total, threshold, stoppedAt }: Climb): Shape[] {
  const x = (received: number) => `${(1 + (98 * received) / Math.max(1, total)).toFixed(2)}%`;
  const y = (confidence: number) => Number((BOTTOM - (BOTTOM - TOP) * confidence).toFixed(1));
  const early = stoppedAt !== null && stoppedAt < total ? stoppedAt : null;
  const segments = steps.map((to, i) => ({ from: steps[i - 1] ?? { received: 0, confidence: 0 }, to }));
  return [
    ...(early === null ? [] : spared(x(early), ((98 * (total - early)) / total).toFixed(2))),
    ...Array.from({ length: total + 1 }, (_, i) =>
      shape('line', { class: 'tick', x1: x(i), x2: x(i), y1: BOTTOM, y2: BOTTOM + 5 }),
    ),
    shape('line', { class: 'ground', x1: '1%', x2: '99%', y1: BOTTOM, y2: BOTTOM }),
    shape('line', { class: 'threshold', x1: '1%', x2: '99%', y1: y(threshold), y2: y(threshold) }),
    shape('text', { x: '1%', y: y(threshold) - 6 }, `stops at ${sure(threshold)}`),
    shape('text', { x: '1%', y: CLIMB_HEIGHT - 6 }, 'no vote yet'),
    shape('text', { x: '99%', y: CLIMB_HEIGHT - 6, 'text-anchor': 'end' }, `all ${total} models`),
    ...segments.map(({ from, to }) =>
      shape('line', {
        // During a tie there is no confidence: the segment spans several votes.
        class: to.received - from.received > 1 ? 'rise across' : 'rise',
        x1: x(from.received),
        x2: x(to.received),
        y1: y(from.confidence),
        y2: y(to.confidence),
      }),
    ),
    ...steps.map(({ received, confidence }, i) =>
      shape('circle', { class: 'point', cx: x(received), cy: y(confidence), r: i === steps.length - 1 ? 6 : 3.5 }),
    ),
    ...(early === null ? [] : stop(x(early), early, total)),
  ];
}

const spared = (x: string, width: string): Shape[] => [
  shape('rect', { class: 'spared', x, y: TOP - 16, width: `${width}%`, height: BOTTOM - TOP + 16 }),
];

/** The label is left or right of the line, where it fits. */
function stop(x: string, asked: number, total: number): Shape[] {
  const late = asked / total > 0.6;
  const place = { x, dx: late ? -8 : 8, y: BOTTOM - 10, 'text-anchor': late ? 'end' : 'start' };
  return [
    shape('line', { class: 'stop', x1: x, x2: x, y1: TOP - 16, y2: BOTTOM }),
    shape('text', { ...place, class: 'says' }, `${total - asked} not asked`),
  ];
}
