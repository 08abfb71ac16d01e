import { oddsText, type Series } from './odds-series.ts';
import { type PollPicture, voteAt } from './poll-picture.ts';
import { type Shape, shape } from './shape.ts';
import { voteError } from './vote-error.ts';

/** The chart as a table, for screen readers. */
export const oddsTable = (picture: PollPicture, series: readonly Series[]): Shape =>
  shape(
    'details',
    { class: 'odds-table' },
    shape('summary', {}, 'As a table'),
    shape(
      'div',
      { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Chances after each vote' },
      shape(
        'table',
        {},
        shape(
          'thead',
          {},
          shape('tr', {}, ...['Votes', 'Model', 'Vote'].map(head), ...series.map(({ name }) => head(name))),
        ),
        shape('tbody', {}, ...picture.odds.map(({ received }, i) => row(picture, series, received, i))),
      ),
    ),
  );

const head = (name: string): Shape => shape('th', { scope: 'col', dir: 'auto' }, name);

function row(picture: PollPicture, series: readonly Series[], received: number, i: number): Shape {
  const vote = voteAt(picture, received);
  const said = !vote ? '–' : vote.option === null ? voteError(vote.error) : (picture.options[vote.option] ?? '');
  return shape(
    'tr',
    {},
    shape('td', {}, String(received)),
    shape('td', {}, vote?.model ?? '–'),
    shape('td', { dir: 'auto' }, said),
    ...series.map(({ points, settled }) => shape('td', {}, oddsText(points[i]!.chance, settled))),
  );
}
