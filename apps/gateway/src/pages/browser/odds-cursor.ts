import { counted } from '@eloquentpoll/voting/verdict';
import { shortened, xOf, yOf } from './odds-scale.ts';
import { oddsText, type Series } from './odds-series.ts';
import { type PollPicture, voteAt } from './poll-picture.ts';
import { type Shape, shape } from './shape.ts';
import { voteError } from './vote-error.ts';

const BOX_WIDTH = 168;
const ROW = 17;
const MAX_ROWS = 5;

/** A vertical line through the chart after `received` votes, with the last vote and the odds after it. */
export function oddsCursor(picture: PollPicture, series: readonly Series[], received: number): Shape[] {
  const at = series.map(({ name, kind, settled, points }) => ({
    name,
    kind,
    settled,
    chance: points.find((point) => point.received === received)?.chance,
  }));
  const known = at.flatMap(({ chance, ...each }) => (chance === undefined ? [] : [{ ...each, chance }]));
  if (known.length === 0) return [];
  const rows = known.toSorted((a, b) => b.chance - a.chance).slice(0, MAX_ROWS);
  const x = xOf(received, picture.panelSize);
  const left = received > picture.panelSize / 2 ? -BOX_WIDTH - 10 : 10;
  const vote = voteText(picture, received);
  const line = (y: number, attributes: Shape['attributes'], text: string) =>
    shape('text', { x: left + 10, y, ...attributes }, text);
  return [
    shape(
      'svg',
      { class: 'cursor', x, overflow: 'visible' },
      shape('line', { class: 'cursor-line', x1: 0, x2: 0, y1: yOf(1), y2: yOf(0) }),
      ...known.map(({ kind, chance }) => shape('circle', { class: `odds-dot ${kind}`, cx: 0, cy: yOf(chance), r: 4 })),
      shape('rect', {
        class: 'cursor-box',
        x: left,
        y: 22,
        width: BOX_WIDTH,
        height: ROW * (rows.length + 1 + vote.length) + 14,
        rx: 6,
      }),
      line(
        42,
        { class: 'strong' },
        received === 0 ? 'Before the first vote' : `After vote ${received} of ${picture.panelSize}`,
      ),
      ...vote.map((text, i) => line(42 + ROW * (i + 1), {}, text)),
      ...rows.map(({ name, kind, settled, chance }, i) =>
        line(
          42 + ROW * (1 + vote.length + i),
          { class: `end ${kind}` },
          `${oddsText(chance, settled)} ${shortened(name, 16)}`,
        ),
      ),
    ),
  ];
}

function voteText(picture: PollPicture, received: number): string[] {
  const vote = voteAt(picture, received);
  if (!vote) return [];
  const said =
    vote.option === null ? voteError(vote.error) : `voted ${shortened(picture.options[vote.option] ?? '', 17)}`;
  return [shortened(vote.model, 23), said];
}

/** The same as one sentence, for screen readers. */
export function cursorText(picture: PollPicture, series: readonly Series[], received: number): string {
  const vote = voteAt(picture, received);
  const said = !vote
    ? ''
    : `, ${vote.model}: ${vote.option === null ? voteError(vote.error) : picture.options[vote.option]}`;
  const odds = series.flatMap(({ name, settled, points }) => {
    const point = points.find((each) => each.received === received);
    return point ? [`${name} ${oddsText(point.chance, settled)}`] : [];
  });
  return `After ${counted(received, 'vote')}${said}. ${odds.join(', ')}.`;
}
