import type { PanelName } from '@eloquentpoll/contracts';
import { isFree } from '@eloquentpoll/polls';
import type { SpendCeiling } from '@eloquentpoll/storage';
import type { PollsContext } from '../context.ts';

// What model providers may charge the whole fleet per hour and day, whatever its callers do.

const DEFAULT: SpendCeiling = { hourU: 200_000_000n, dayU: 2_000_000_000n };

/** Undefined where there is none: simulated models charge nothing unless an operator plays that they do. */
export function spendCeiling(
  { config, panels }: Pick<PollsContext, 'config' | 'panels'>,
  share: 'all' | 'free',
): SpendCeiling | undefined {
  const { hourU, dayU, freeShare } = config.providerSpend;
  if (panels.simulated && hourU === null && dayU === null) return undefined;
  const sharePpm = share === 'free' ? BigInt(Math.round(freeShare * 1_000_000)) : 1_000_000n;
  const part = (amountU: bigint) => (amountU * sharePpm) / 1_000_000n;
  return { hourU: part(hourU ?? DEFAULT.hourU), dayU: part(dayU ?? DEFAULT.dayU) };
}

/** Free polls stop first. */
export const ceilingFor = (context: Pick<PollsContext, 'config' | 'panels'>, panel: PanelName) =>
  spendCeiling(context, isFree(panel) ? 'free' : 'all');
