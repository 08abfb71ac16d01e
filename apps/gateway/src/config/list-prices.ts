import { type PanelName, PRESETS, type Preset } from '@eloquentpoll/contracts';
import { isFree } from '@eloquentpoll/polls';

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

/** The free pool pays what providers charge. A custom panel stops and hedges as `broad` does, and aborts as many calls. */
export const pricePpmOf = ({ pricePpm }: { pricePpm: PriceFactors }, panel: PanelName): number =>
  isFree(panel) ? PPM : pricePpm[panel === 'custom' ? 'broad' : panel];
