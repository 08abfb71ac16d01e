import type { PanelName } from '@eloquentpoll/contracts';
import { isFree, spendCeiling } from '@eloquentpoll/polls';
import type { PollsContext } from '../context.ts';

/** Free polls stop first. */
export const ceilingFor = ({ config, panels }: Pick<PollsContext, 'config' | 'panels'>, panel: PanelName) =>
  spendCeiling(config.providerSpend, panels.simulated, isFree(panel) ? 'free' : 'all');
