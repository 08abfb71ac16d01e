import { lead, type Votes } from './tally.ts';

/**
 * No votes of the `remaining` models can change the winner. Strict: a lead of exactly `remaining` is no lock, because
 * the runner-up can still tie. A failed model only lowers `remaining`, so a lock is never lost.
 */
export const isLocked = (votes: Votes, remaining: number): boolean => lead(votes) > remaining;

/** How many further votes for the leader lock the outcome, if the first of the `remaining` models cast them. */
export const votesToLock = (votes: Votes, remaining: number): number =>
  Math.max(0, Math.floor((remaining - lead(votes)) / 2) + 1);
