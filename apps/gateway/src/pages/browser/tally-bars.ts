import { colourClasses, type PollPicture } from './poll-picture.ts';
import { type Shape, shape } from './shape.ts';

/** One bar per option, scaled to the whole panel, with a line at the number of votes that makes a win certain. */
export function tallyBars(picture: PollPicture): Shape[] {
  const { options, tally, panelSize } = picture;
  const most = Math.max(...tally);
  const colours = colourClasses(picture);
  const enough = Math.floor(panelSize / 2) + 1;
  const at = `${((100 * enough) / Math.max(1, panelSize)).toFixed(1)}%`;
  return [
    shape(
      'ul',
      { class: 'bars' },
      ...options.map((option, i) =>
        shape(
          'li',
          { class: `bar-row ${colours[i]}${most > 0 && tally[i] === most ? ' leads' : ''}` },
          shape('span', { class: 'name', dir: 'auto' }, option),
          shape('span', { class: 'count' }, String(tally[i])),
          shape(
            'svg',
            { class: 'bar', 'aria-hidden': 'true' },
            shape('rect', { width: `${((100 * tally[i]!) / Math.max(1, panelSize)).toFixed(1)}%`, height: '100%' }),
            shape('line', { class: 'enough', x1: at, x2: at, y1: 0, y2: '100%' }),
          ),
        ),
      ),
    ),
    shape(
      'p',
      { class: 'hint' },
      `The line is at ${enough} of ${panelSize} votes: enough to win, whatever the others vote.`,
    ),
  ];
}
