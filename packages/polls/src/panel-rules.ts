import {
  FREE_PRESETS,
  type FreePreset,
  type PanelName,
  type PollSpec,
  type ServiceTier,
} from '@eloquentpoll/contracts';
import type { Hedge } from '@eloquentpoll/voting';

// What a poll of each panel is allowed: who pays, how long it may take, how many votes it needs, how it hedges.

/** Whether the operator pays: open-weight models, and a daily cap on what all such polls may cost. */
export const isFree = (panel: string | undefined): panel is FreePreset => FREE_PRESETS.some((free) => free === panel);

/** Of a poll that an operator asks again. */
export const OPERATOR_ENTRY = 'operator';

/** The free pool pays what an operator asks again, too, whatever its panel is. */
export const isPaidByPool = (panel: PanelName, entryPoint: string): boolean =>
  isFree(panel) || entryPoint === OPERATOR_ENTRY;

const DEADLINE_MS: Record<PanelName, number> = {
  broad: 120_000,
  strong: 120_000,
  fast: 45_000,
  free: 45_000,
  free_search: 120_000,
  custom: 120_000,
};

type Timed = Pick<PollSpec, 'panel_name' | 'service_tier'>;

const FLEX_DEADLINE_MS = 24 * 3_600_000;

/** The way a poll takes to a worker: a queue of its own for each service tier. */
export const laneOf = ({ service_tier }: Pick<PollSpec, 'service_tier'>): ServiceTier => service_tier ?? 'standard';

/** From acceptance to the end of the poll at the latest. */
export const deadlineMsOf = (poll: Timed): number =>
  laneOf(poll) === 'flex' ? FLEX_DEADLINE_MS : DEADLINE_MS[poll.panel_name];

/** How long a worker may run it, from its claim; undefined where its deadline is the only limit. */
export const runLimitMsOf = (poll: Timed): number | undefined =>
  laneOf(poll) === 'flex' ? DEADLINE_MS[poll.panel_name] : undefined;

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
export const hedgeOf = (poll: Timed): Hedge => (laneOf(poll) === 'flex' ? 'none' : HEDGE[poll.panel_name]);
