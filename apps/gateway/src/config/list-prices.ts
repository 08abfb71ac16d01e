import type { Preset } from '@eloquentpoll/contracts';
import { isFree, laneOf, type PollOrder } from '@eloquentpoll/polls';

// List price = the provider's price, with what a sale costs besides: calls under way when a poll stops, which providers
// charge and no customer is billed, and the part of a payment that its processor keeps.

/** `custom` stands for panels that callers name; without it they count as `broad`. */
type ByPanel = Readonly<Record<Preset, number> & { custom?: number }>;

/** What calls that stops abort have of all that providers charge for a panel. */
export type AbortedShares = ByPanel;

/** List price by the provider's, in millionths. */
export type PriceFactors = ByPanel;

const PPM = 1_000_000;

export function priceFactors(aborted: AbortedShares, paymentFeeShare: number): PriceFactors {
  const factor = (share: number) => Math.ceil(PPM / ((1 - share) * (1 - paymentFeeShare)));
  const { broad, fast, strong, custom = broad } = aborted;
  return { broad: factor(broad), fast: factor(fast), strong: factor(strong), custom: factor(custom) };
}

export interface PriceTerms {
  pricePpm: PriceFactors;
  /** A flex poll's list price by the standard one, and the least that it is by the provider's price; in millionths. */
  flexPrice: { ppm: number; leastPpm: number };
}

/** A flex poll has no calls under way when it stops: it never costs less than what providers charge and a payment's fee. */
export const flexPriceOf = (ppm: number, paymentFeeShare: number): PriceTerms['flexPrice'] => ({
  ppm,
  leastPpm: Math.ceil(PPM / (1 - paymentFeeShare)),
});

/** The free pool pays what providers charge. A custom panel is shorter than `broad`, so that a call ahead is more of it. */
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
