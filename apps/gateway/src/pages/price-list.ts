import { type Estimate, LIMITS, PRESETS } from '@eloquentpoll/contracts';
import { listPrice, seatsFor, withFee } from '@eloquentpoll/models/panels';
import { pricePpmOf } from '../config/list-prices.ts';
import { estimateWithWhole } from '../polls/order/estimate-poll.ts';
import { pollTextOf } from '../polls/order/freeze-order.ts';
import { typicalOrder } from '../polls/order/typical-poll.ts';
import type { PagesContext } from './context.ts';

// The figures of /pricing, from the same forecast as GET /api/poll/estimate.

type Parts = Pick<PagesContext, 'panels' | 'modelsOut' | 'health' | 'config' | 'trackRecords'>;

export type PricedPreset = (typeof PRESETS)[number];

export interface PollPrice {
  estimate: Estimate;
  /** US dollars: the typical cost without early stopping. */
  wholeUsd: number;
  /** The share of `wholeUsd` that early stopping is expected to save. */
  saving: number;
}

export interface PriceQuestion {
  preset: PricedPreset;
  options: number;
  threshold: number;
}

export interface VotePrice {
  modelId: string;
  input: bigint;
  output: bigint;
  /** Micro-USD: a typical vote, and the maximum. */
  typicalU: bigint;
  maxU: bigint;
}

export const OPTION_COUNTS = Array.from(
  { length: LIMITS.options.max - LIMITS.options.min + 1 },
  (_, i) => LIMITS.options.min + i,
);

/** The form offers thresholds in steps of 1/20: few enough to cache every page. */
export const THRESHOLD_STEPS = 20;

/** For each preset and number of options. */
export async function priceList(
  parts: Parts,
  threshold: number,
): Promise<ReadonlyMap<PricedPreset, readonly PollPrice[]>> {
  const lists = PRESETS.map(async (preset) => {
    const prices = await Promise.all(OPTION_COUNTS.map((options) => priceOf(parts, { preset, options, threshold })));
    return [preset, prices] as const;
  });
  return new Map(await Promise.all(lists));
}

export async function priceOf(parts: Parts, { preset, options, threshold }: PriceQuestion): Promise<PollPrice> {
  const order = typicalOrder({ preset, confidence_threshold: threshold }, options);
  const { estimate, wholeUsd } = await estimateWithWhole(parts, order);
  // The share of the money, not of the calls: if the cheapest models are asked first, the skipped ones cost more.
  return { estimate, wholeUsd, saving: wholeUsd === 0 ? 0 : 1 - estimate.cost_usd.expected / wholeUsd };
}

/** The prices of one vote by model. */
export async function votePrices({ panels, health, config }: Parts, question: PriceQuestion): Promise<VotePrice[]> {
  const { preset, options, threshold } = question;
  const order = typicalOrder({ preset, confidence_threshold: threshold }, options);
  const panel = panels.panelOf(order);
  const records = await health.snapshot(panel.models.map(({ id }) => id));
  const pricePpm = pricePpmOf(config, { panel_name: preset });
  const seats = seatsFor(panel, pollTextOf(order), { records, pricePpm });
  return panel.models.map(({ id, price, feePpm }, i) => ({
    modelId: id,
    input: listPrice(withFee(price.input, feePpm), pricePpm),
    output: listPrice(withFee(price.output, feePpm), pricePpm),
    typicalU: listPrice(BigInt(seats[i]!.call_typical_u!), pricePpm),
    maxU: BigInt(seats[i]!.reserve_u),
  }));
}
