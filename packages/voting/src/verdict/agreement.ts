import { isTie, lead, type Votes, votesCast } from '../tally.ts';

/**
 * How far the panel agrees, by how many votes would have to be switched to take the lead away. `split`: one is enough.
 * `clear`: two or more. `broad`: the lead is more than half of all votes. `unanimous`: every vote, of at least two.
 */
export type Band = 'unanimous' | 'broad' | 'clear' | 'split' | 'tied';

/** Null before the first vote, and for a single vote, which agrees with no other. */
export function bandOf(votes: Votes): Band | null {
  const cast = votesCast(votes);
  if (cast < 2) return null;
  if (isTie(votes)) return 'tied';
  const ahead = lead(votes);
  if (ahead === cast) return 'unanimous';
  if (switchesNeeded(ahead) === 1) return 'split';
  return 2 * ahead > cast ? 'broad' : 'clear';
}

/** The fewest votes that, given to the second option instead of the first, leave the first without its lead. */
export const switchesNeeded = (ahead: number): number => Math.ceil(ahead / 2);

/** What these switched votes do. A switch moves the lead by two, so an even lead ends in a tie. */
export function changeBySwitching(votes: Votes): string | null {
  const ahead = lead(votes);
  if (ahead === 0) return null;
  const needed = switchesNeeded(ahead);
  const effect = ahead % 2 === 1 ? 'change the winner' : 'make it a tie';
  return needed === 1 ? `One switched vote would ${effect}.` : `It would take ${needed} switched votes to ${effect}.`;
}
