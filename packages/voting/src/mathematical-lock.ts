import { lead, type Votes } from './tally.ts';

/**
 * No completion by the `remaining` models changes the winner. Strict: a lead of exactly `remaining` is no lock, because
 * the runner-up can still tie. A model that fails only lowers `remaining`, so a lock never comes undone.
 */
export const isLocked = (votes: Votes, remaining: number): boolean => lead(votes) > remaining;
