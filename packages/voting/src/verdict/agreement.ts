import { isTie, lead, type Votes, votesCast } from '../tally.ts';

/**
 * How far the panel agrees, by how many votes would have to switch to take the lead away. `split`: one is enough.
 * `clear`: two or more. `broad`: the lead is more than half of all votes. `unanimous`: all votes, at least two.
 */
export type Band = 'unanimous' | 'broad' | 'clear' | 'split' | 'tied';

/** Null before the first vote and for a single vote, which cannot agree with another. */
export function bandOf(votes: Votes): Band | null {
  const cast = votesCast(votes);
  if (cast < 2) return null;
  if (isTie(votes)) return 'tied';
  const ahead = lead(votes);
  if (ahead === cast) return 'unanimous';
  if (switchesNeeded(ahead) === 1) return 'split';
  return 2 * ahead > cast ? 'broad' : 'clear';
}

/** The smallest number of votes that must switch from the first to the second option to end the lead. */
export const switchesNeeded = (ahead: number): number => Math.ceil(ahead / 2);

/** What happens if that many votes switch. Each switch changes the lead by two, so an even lead ends in a tie. */
export function changeBySwitching(votes: Votes): string | null {
  const ahead = lead(votes);
  if (ahead === 0) return null;
  const needed = switchesNeeded(ahead);
  const effect = ahead % 2 === 1 ? 'change the winner' : 'make it a tie';
  return needed === 1 ? `One switched vote would ${effect}.` : `It would take ${needed} switched votes to ${effect}.`;
}
