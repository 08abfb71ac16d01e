import type { Preset } from '@eloquentpoll/contracts';
import { isFree, laneOf, type PollOrder } from '@eloquentpoll/polls';

// List price = the provider's price plus the costs of a sale: calls that a stop aborts, which providers charge and no
// customer pays for, and the payment processor's fee.

/** `custom` stands for custom panels; without it they count as `broad`. */
type ByPanel = Readonly<Record<Preset, number> & { custom?: number }>;

/** The share of aborted calls in all that providers charge for a panel. */
export type AbortedShares = ByPanel;

/** List price divided by the provider's price, in millionths. */
export type PriceFactors = ByPanel;

const PPM = 1_000_000;

export function priceFactors(aborted: AbortedShares, paymentFeeShare: number): PriceFactors {
  const factor = (share: number) => Math.ceil(PPM / ((1 - share) * (1 - paymentFeeShare)));
  const { broad, fast, strong, custom = broad } = aborted;
  return { broad: factor(broad), fast: factor(fast), strong: factor(strong), custom: factor(custom) };
}

export interface PriceTerms {
  pricePpm: PriceFactors;
  /** In millionths. `ppm`: flex price / standard price. `leastPpm`: lowest flex price / provider's price. */
  flexPrice: { ppm: number; leastPpm: number };
}

/** A flex poll has no calls to abort when it stops. It never costs less than provider's price plus payment fee. */
export const flexPriceOf = (ppm: number, paymentFeeShare: number): PriceTerms['flexPrice'] => ({
  ppm,
  leastPpm: Math.ceil(PPM / (1 - paymentFeeShare)),
});

/** The free pool pays provider prices. `custom` has its own factor: in a shorter panel an aborted call weighs more. */
export function pricePpmOf(
  { pricePpm, flexPrice }: PriceTerms,
  order: Pick<PollOrder, 'panel_name' | 'service_tier'>,
): number {
  const { panel_name: panel } = order;
  if (isFree(panel)) return PPM;
  const standard = panel === 'custom' ? (pricePpm.custom ?? pricePpm.broad) : pricePpm[panel];
  if (laneOf(order) === 'standard') return standard;
  return Math.min(standard, Math.max(flexPrice.leastPpm, Math.ceil((standard * flexPrice.ppm) / PPM)));
}
