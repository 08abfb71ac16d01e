import { lead, type Votes } from './tally.ts';

/**
 * No votes of the `remaining` models can change the winner. Strict: a lead of exactly `remaining` is no lock, because
 * the runner-up can still tie. A failed model only lowers `remaining`, so a lock is never lost.
 */
export const isLocked = (votes: Votes, remaining: number): boolean => lead(votes) > remaining;
