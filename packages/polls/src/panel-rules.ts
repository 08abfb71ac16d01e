import { FREE_PRESETS, type FreePreset, type PanelName } from '@eloquentpoll/contracts';
import type { Hedge } from '@eloquentpoll/voting';

// What a poll of each panel is allowed: who pays, how long it may take, how many votes it needs, how it hedges.

/** Whether the operator pays: open-weight models, and a daily cap on what all such polls may cost. */
export const isFree = (panel: PanelName): panel is FreePreset => FREE_PRESETS.some((free) => free === panel);

const DEADLINE_MS: Record<PanelName, number> = {
  broad: 120_000,
  strong: 120_000,
  fast: 45_000,
  free: 45_000,
  free_search: 120_000,
  custom: 120_000,
};

/** From acceptance to the end of the poll at the latest. */
export const deadlineMsOf = (panel: PanelName): number => DEADLINE_MS[panel];

const MIN_VOTES = 3;
const FREE_MIN_VOTES = 1;

/** Valid votes before confidence may stop the poll. */
export const minVotesOf = (panel: PanelName): number => (isFree(panel) ? FREE_MIN_VOTES : MIN_VOTES);

const HEDGE: Record<PanelName, Hedge> = {
  fast: 'all',
  broad: 'one',
  strong: 'when_slow',
  free: 'one',
  free_search: 'one',
  custom: 'one',
};

/** How many models are asked beyond those that are needed: the price of not waiting for the slowest. */
export const hedgeOf = (panel: PanelName): Hedge => HEDGE[panel];
