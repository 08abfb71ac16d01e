import { cursorText, oddsCursor } from './odds-cursor.ts';
import { BOTTOM, cutToWidth, HEIGHT, TOP, xOf, yOf } from './odds-scale.ts';
import { oddsSeries, oddsText, type Series, spacedApart } from './odds-series.ts';
import { oddsTable } from './odds-table.ts';
import { colourClasses, type PollPicture, unseenVotes } from './poll-picture.ts';
import { type Shape, shape } from './shape.ts';

// The chance of each option to win the full panel, vote by vote. Votes are placed in percent of the width, so that the
// chart fits any page; the axis and the labels have columns of their own.

const AXIS_WIDTH = 38;
const END_WIDTH = 136;
const END_GAP = 17;
const NAME_X = 51;

const HOW_TO_READ = 'Votes in order of arrival. Point at a vote, or use the arrow keys, to see what it changed.';

const text = (attributes: Shape['attributes'], content: string): Shape => shape('text', attributes, content);
const line = (attributes: Shape['attributes']): Shape => shape('line', attributes);

/** Null if no odds were recorded. `cursor`: the number of votes after which the odds are written out. */
export function oddsChart(picture: PollPicture, cursor: number | null = null): Shape | null {
  const { odds, points } = picture;
  if (odds.length === 0 && points.length === 0) return null;
  const series = oddsSeries(picture);
  return shape(
    'figure',
    { class: 'odds' },
    shape(
      'div',
      { class: 'odds-plot', tabindex: 0, role: 'group', 'aria-label': labelOf(picture, series) },
      shape('svg', { width: AXIS_WIDTH, height: HEIGHT, 'aria-hidden': 'true' }, ...axis()),
      shape(
        'svg',
        { class: 'lines', width: '100%', height: HEIGHT, 'aria-hidden': 'true' },
        ...ground(picture),
        ...series.toReversed().flatMap((each) => linesOf(each, picture)),
        ...leadPoints(picture),
        ...voteMarks(picture),
        ...(cursor === null ? [] : oddsCursor(picture, series, cursor)),
      ),
      shape('svg', { class: 'ends', width: END_WIDTH, height: HEIGHT, 'aria-hidden': 'true' }, ...endsOf(series)),
    ),
    shape('p', { class: 'hint' }, odds.length > 0 ? HOW_TO_READ : 'Who led after each vote, and how likely to stay.'),
    shape(
      'p',
      { class: 'hidden-text', 'aria-live': 'polite' },
      cursor === null ? '' : cursorText(picture, series, cursor),
    ),
    ...(odds.length > 0 ? [oddsTable(picture, series)] : []),
  );
}

function labelOf({ odds, panelSize }: PollPicture, all: readonly Series[]): string {
  const last = odds.at(-1);
  if (!last) return 'Who led after each vote';
  const now = all.map(({ name, points, settled }) => `${name} ${oddsText(points.at(-1)!.chance, settled)}`).join(', ');
  return `Chances after ${last.received} of ${panelSize} votes: ${now}`;
}

const axis = (): Shape[] =>
  [
    [1, 'final'],
    [0.5, '50%'],
    [0, '0%'],
  ].map(([chance, label]) =>
    text({ x: AXIS_WIDTH - 6, y: yOf(Number(chance)) + 4, 'text-anchor': 'end' }, String(label)),
  );

function ground({ panelSize, threshold, hasEnded, odds, points }: PollPicture): Shape[] {
  const asked = Math.max(odds.at(-1)?.received ?? 0, points.at(-1)?.received ?? 0);
  const spared = hasEnded ? panelSize - asked : 0;
  return [
    ...(spared > 0
      ? [
          shape('rect', {
            class: 'spared',
            x: xOf(asked, panelSize),
            y: TOP,
            width: `${((98 * spared) / panelSize).toFixed(2)}%`,
            height: BOTTOM - TOP,
          }),
          text({ class: 'spared-says', x: '99%', y: BOTTOM - 8, 'text-anchor': 'end' }, `${spared} not asked`),
        ]
      : []),
    ...[0, 0.25, 0.5, 0.75, 1].map((chance) =>
      line({ class: chance === 0 ? 'ground' : 'grid', x1: '1%', x2: '99%', y1: yOf(chance), y2: yOf(chance) }),
    ),
    ...(threshold === null || threshold >= 1
      ? []
      : [
          line({ class: 'threshold', x1: '1%', x2: '99%', y1: yOf(threshold), y2: yOf(threshold) }),
          text({ x: '1%', dx: 4, y: yOf(threshold) + 14 }, `stops at ${oddsText(threshold)}`),
        ]),
  ];
}

/**
 * Lines between consecutive points. A dotted line spans votes whose odds are unknown, or models that were not asked.
 */
function linesOf({ kind, points }: Series, { panelSize, hasEnded }: PollPicture): Shape[] {
  const last = points.at(-1);
  const segments = points
    .slice(1)
    .map((to, i) => ({ from: points[i]!, to, across: to.received - points[i]!.received > 1 }));
  const end =
    hasEnded && last && last.received < panelSize
      ? [{ from: last, to: { received: panelSize, chance: last.chance }, across: true }]
      : [];
  return [
    ...[...segments, ...end].map(({ from, to, across }) =>
      line({
        class: `odds-line ${kind}${across ? ' across' : ''}`,
        x1: xOf(from.received, panelSize),
        y1: yOf(from.chance),
        x2: xOf(to.received, panelSize),
        y2: yOf(to.chance),
      }),
    ),
    ...(last
      ? [shape('circle', { class: `odds-dot ${kind}`, cx: xOf(last.received, panelSize), cy: yOf(last.chance), r: 4 })]
      : []),
  ];
}

/** For old results: the leader and its chance. Points of different leaders are not joined. */
function leadPoints(picture: PollPicture): Shape[] {
  const colours = colourClasses(picture);
  return picture.points.map(({ received, option, confidence }) =>
    shape(
      'circle',
      {
        class: `odds-dot ${colours[option]}`,
        cx: xOf(received, picture.panelSize),
        cy: yOf(confidence),
        r: 5,
        'data-option': option,
      },
      shape('title', {}, `${picture.options[option]} ${oddsText(confidence)}`),
    ),
  );
}

/** One mark per vote, in the colour of the chosen option. */
function voteMarks(picture: PollPicture): Shape[] {
  const { votes, options, panelSize } = picture;
  const colours = colourClasses(picture);
  const unseen = unseenVotes(picture);
  return votes.flatMap(({ model, option }, i) => {
    const x = xOf(unseen + i + 1, panelSize);
    const kind = option === null ? 'failed' : colours[option]!;
    return [
      shape(
        'circle',
        { class: `vote-mark ${kind}`, cx: x, cy: BOTTOM + 12, r: 4.5 },
        shape('title', {}, `${model}: ${option === null ? 'no vote' : options[option]}`),
      ),
      text({ x, y: HEIGHT - 6, 'text-anchor': 'middle' }, String(unseen + i + 1)),
    ];
  });
}

function endsOf(series: readonly Series[]): Shape[] {
  const ends = series
    .flatMap(({ name, kind, settled, points }) =>
      points.length === 0 ? [] : [{ name, kind, settled, chance: points.at(-1)!.chance }],
    )
    .toSorted((a, b) => b.chance - a.chance);
  const places = spacedApart(
    ends.map(({ chance }) => yOf(chance)),
    END_GAP,
    BOTTOM,
  );
  return ends.flatMap(({ name, kind, settled, chance }, i) => [
    text({ class: `end ${kind}`, x: 46, y: places[i]! + 4, 'text-anchor': 'end' }, oddsText(chance, settled)),
    text({ class: `end name ${kind}`, x: NAME_X, y: places[i]! + 4 }, cutToWidth(name, END_WIDTH - NAME_X)),
  ]);
}
