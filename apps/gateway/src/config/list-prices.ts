import { PRESETS, type Preset } from '@eloquentpoll/contracts';
import { isFree, laneOf, type PollOrder } from '@eloquentpoll/polls';

// List price = the provider's price, with what a sale costs besides: calls under way when a poll stops, which providers
// charge and no customer is billed, and the part of a payment that its processor keeps.

/** The share of a panel's calls that stops abort. */
export type AbortedShares = Readonly<Record<Preset, number>>;

/** List price by the provider's, in millionths. */
export type PriceFactors = Readonly<Record<Preset, number>>;

const PPM = 1_000_000;

export const priceFactors = (aborted: AbortedShares, paymentFeeShare: number): PriceFactors =>
  Object.fromEntries(
    PRESETS.map((preset) => [preset, Math.ceil(PPM / ((1 - aborted[preset]) * (1 - paymentFeeShare)))]),
  ) as Record<Preset, number>;

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

/** The free pool pays what providers charge. A custom panel stops and hedges as `broad` does, and aborts as many calls. */
export function pricePpmOf(
  { pricePpm, flexPrice }: PriceTerms,
  order: Pick<PollOrder, 'panel_name' | 'service_tier'>,
): number {
  const { panel_name: panel } = order;
  if (isFree(panel)) return PPM;
  const standard = pricePpm[panel === 'custom' ? 'broad' : panel];
  if (laneOf(order) === 'standard') return standard;
  return Math.min(standard, Math.max(flexPrice.leastPpm, Math.ceil((standard * flexPrice.ppm) / PPM)));
}
