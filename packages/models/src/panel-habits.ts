import type { PanelName } from '@eloquentpoll/contracts';
import type { PromptStyle } from './prompt-words.ts';

// How the polls of each panel are run, said once for whoever prices, forecasts or runs them.

/** A fast poll asks for the bare choice; the others let the model give its reason first. */
export const promptStyle = (panel: PanelName): PromptStyle => (panel === 'fast' ? 'choice' : 'rationale');

/** How many models are asked beyond those that are needed: the price of not waiting for the slowest. */
const HEDGE = {
  fast: 'all',
  broad: 'one',
  strong: 'when_slow',
  free: 'one',
  free_search: 'one',
} as const satisfies Record<PanelName, string>;

export const hedgeOf = (panel: PanelName): 'all' | 'one' | 'when_slow' => HEDGE[panel];
