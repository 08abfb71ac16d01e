import type { RosterName } from '@eloquentpoll/contracts';
import type { BallotStyle } from './prompt.ts';

// How the polls of each roster are run, said once for whoever prices, forecasts or runs them.

/** A fast poll asks for the bare choice; the others let the model give its reason first. */
export const ballotStyle = (roster: RosterName): BallotStyle => (roster === 'fast' ? 'choice' : 'rationale');

/** How many models are asked beyond those that are needed: the price of not waiting for the slowest. */
const HEDGE = {
  fast: 'all',
  broad: 'one',
  strong: 'when_slow',
  free: 'one',
  free_search: 'one',
} as const satisfies Record<RosterName, string>;

export const hedgeOf = (roster: RosterName): 'all' | 'one' | 'when_slow' => HEDGE[roster];
