import {
  FREE_PRESETS,
  type FreePreset,
  type PanelName,
  type PollSpec,
  type ServiceTier,
} from '@eloquentpoll/contracts';
import type { Hedge } from '@eloquentpoll/voting';

// The rules per panel: who pays, time limits, minimum votes, hedging.

/** Whether the operator pays. Free panels have open-weight models, and a daily cap on the cost of all their polls. */
export const isFree = (panel: string | undefined): panel is FreePreset => FREE_PRESETS.some((free) => free === panel);

/** Entry point of polls that an operator reruns. */
export const OPERATOR_ENTRY = 'operator';

/** The free pool also pays for polls that an operator reruns, whatever their panel. */
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

/** The lane of a poll: each service tier has its own queue. */
export const laneOf = ({ service_tier }: Pick<PollSpec, 'service_tier'>): ServiceTier => service_tier ?? 'standard';

/** Maximum time from acceptance to the end of the poll. */
export const deadlineMsOf = (poll: Timed): number =>
  laneOf(poll) === 'flex' ? FLEX_DEADLINE_MS : DEADLINE_MS[poll.panel_name];

/** How long a worker may run the poll after its claim. Undefined if only the deadline limits it. */
export const runLimitMsOf = (poll: Timed): number | undefined =>
  laneOf(poll) === 'flex' ? DEADLINE_MS[poll.panel_name] : undefined;

const MIN_VOTES = 3;
const FREE_MIN_VOTES = 1;

/** Number of valid votes that are needed before confidence may stop the poll. */
export const minVotesOf = (panel: PanelName): number => (isFree(panel) ? FREE_MIN_VOTES : MIN_VOTES);

const HEDGE: Record<PanelName, Hedge> = {
  fast: 'all',
  broad: 'one',
  strong: 'when_slow',
  free: 'one',
  free_search: 'one',
  // The caller chooses which call is ahead: a dear, slow model beside cheap ones would be stopped at our cost in each poll.
  custom: 'when_slow',
};

/** How many more models are asked than needed. They cost money, but the poll does not wait for the slowest model. */
export const hedgeOf = (poll: Timed): Hedge => (laneOf(poll) === 'flex' ? 'none' : HEDGE[poll.panel_name]);
