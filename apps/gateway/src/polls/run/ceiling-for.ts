import type { PollSpec } from '@eloquentpoll/contracts';
import { isFree, laneOf, spendCeiling } from '@eloquentpoll/polls';
import type { PollsContext } from '../context.ts';

/** Free polls stop first. For flex polls nothing is set aside while they wait: their ceiling is that of the worker that claims them. */
export const ceilingFor = (
  { config, panels }: Pick<PollsContext, 'config' | 'panels'>,
  spec: Pick<PollSpec, 'panel_name' | 'service_tier'>,
) =>
  laneOf(spec) === 'flex'
    ? undefined
    : spendCeiling(config.providerSpend, panels.simulated, isFree(spec.panel_name) ? 'free' : 'all');
