import { colourClasses, type PollPicture, receivedOf } from './poll-picture.ts';
import { type Shape, shape } from './shape.ts';
import { voteError } from './vote-error.ts';

interface Seat {
  /** Class for its state and the option's colour. */
  state: string;
  says: string;
}

/** One seat per model: waiting, being asked, voted (in the colour of its option), failed, or not needed. */
export const juryRow = (picture: PollPicture): Shape =>
  shape(
    'ol',
    { class: 'jury', 'aria-label': `The panel: ${picture.panelSize} models` },
    ...seatsOf(picture).map(({ state, says }) =>
      shape(
        'li',
        { class: `seat ${state}`, title: says },
        shape(
          'svg',
          { viewBox: '0 0 28 28', 'aria-hidden': 'true' },
          shape('circle', { cx: 14, cy: 14, r: 11 }),
          ...(state === 'failed' ? [shape('path', { d: 'M9.5 9.5l9 9m0-9l-9 9' })] : []),
        ),
        shape('span', { class: 'hidden-text' }, says),
      ),
    ),
  );

function seatsOf(picture: PollPicture): Seat[] {
  const { votes, panelSize, hasEnded, reason, asking, options } = picture;
  const unasked = reason === 'confidence' || reason === 'mathematical_lock' ? 'Not needed' : 'Not asked';
  const colours = colourClasses(picture);
  const seen = votes.map(
    ({ model, option, error }): Seat =>
      option === null
        ? { state: 'failed', says: `${model}: ${voteError(error)}` }
        : { state: `voted ${colours[option]}`, says: `${model}: ${options[option]}` },
  );
  const seats = [...seen, ...unseenSeats(picture, colours)];
  const left = Math.max(0, panelSize - seats.length);
  const asked = hasEnded ? 0 : Math.min(left, asking ?? 1);
  return [
    ...seats,
    ...Array.from({ length: asked }, () => ({ state: 'asking', says: 'Being asked' })),
    ...Array.from({ length: left - asked }, () =>
      hasEnded ? { state: 'spared', says: unasked } : { state: 'waiting', says: 'Waiting' },
    ),
  ];
}

/** Votes that are in the tally but whose events were missed. */
function unseenSeats(picture: PollPicture, colours: readonly string[]): Seat[] {
  const { votes, tally, options } = picture;
  if (receivedOf(picture) <= votes.length) return [];
  const counted = tally.flatMap((count, option) => {
    const unseen = count - votes.filter((vote) => vote.option === option).length;
    return Array.from({ length: Math.max(0, unseen) }, () => ({
      state: `voted ${colours[option]}`,
      says: `A model: ${options[option]}`,
    }));
  });
  const failed = picture.failed - votes.filter(({ option }) => option === null).length;
  return [
    ...counted,
    ...Array.from({ length: Math.max(0, failed) }, () => ({ state: 'failed', says: 'A model: no vote' })),
  ];
}
