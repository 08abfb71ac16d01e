import type { PollSpec } from '@eloquentpoll/contracts';
import { isFree, laneOf, spendCeiling } from '@eloquentpoll/polls';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';
import { decimalUsd } from '../order/decimal-usd.ts';

type Parts = Pick<PollsContext, 'config' | 'panels'>;

/** Free polls reach the ceiling first. Waiting flex polls set nothing aside; their ceiling is checked at the claim. */
export const ceilingFor = ({ config, panels }: Parts, spec: Pick<PollSpec, 'panel_name' | 'service_tier'>) =>
  laneOf(spec) === 'flex'
    ? undefined
    : spendCeiling(config.providerSpend, panels.simulated, isFree(spec.panel_name) ? 'free' : 'all');

/** A flex poll that costs more than the ceiling of all flex polls would wait for a day and end without a vote. */
export function refuseBeyondFlex(
  { config, panels }: Parts,
  spec: Pick<PollSpec, 'panel_name' | 'service_tier'>,
  maxU: number,
): void {
  const ceiling = laneOf(spec) === 'flex' ? spendCeiling(config.providerSpend, panels.simulated, 'flex') : undefined;
  if (!ceiling || (maxU <= ceiling.hourU && maxU <= ceiling.dayU)) return;
  throw new ApiError('provider_budget_reached', {
    detail: `This poll may cost ${decimalUsd(BigInt(maxU))} USD at model providers, more than all flex polls may at once.`,
    issues: [{ pointer: '#/max_cost_usd', detail: 'a lower one lets fewer or cheaper models be asked' }],
  });
}
