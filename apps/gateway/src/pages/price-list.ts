import { type Estimate, LIMITS, PRESETS } from '@eloquentpoll/contracts';
import { seatsFor, typicalCostsFor } from '@eloquentpoll/models/panels';
import { estimatePoll } from '../polls/order/estimate-poll.ts';
import { pollTextOf } from '../polls/order/freeze-order.ts';
import { typicalOrder } from '../polls/order/typical-poll.ts';
import type { PagesContext } from './context.ts';

// What /pricing shows, from the same forecast as GET /api/poll/estimate, so that both say the same at the same moment.

type Parts = Pick<PagesContext, 'panels' | 'health'>;

export type Preset = (typeof PRESETS)[number];

export interface PollPrice {
  estimate: Estimate;
  /** In US dollars: what the poll would usually cost if it never stopped early. */
  wholeUsd: number;
  /** The part of that which is expected to be saved by stopping early. */
  saving: number;
}

export interface PriceQuestion {
  preset: Preset;
  options: number;
  threshold: number;
}

export interface VotePrice {
  modelId: string;
  input: bigint;
  output: bigint;
  /** Micro-USD of one usual vote, and the most that one can cost. */
  usualU: bigint;
  mostU: bigint;
}

export const OPTION_COUNTS = Array.from(
  { length: LIMITS.options.max - LIMITS.options.min + 1 },
  (_, i) => LIMITS.options.min + i,
);

/** For each preset a poll of every number of options. */
export async function priceList(parts: Parts, threshold: number): Promise<ReadonlyMap<Preset, readonly PollPrice[]>> {
  const lists = PRESETS.map(async (preset) => {
    const prices = await Promise.all(OPTION_COUNTS.map((options) => priceOf(parts, { preset, options, threshold })));
    return [preset, prices] as const;
  });
  return new Map(await Promise.all(lists));
}

export async function priceOf(parts: Parts, { preset, options, threshold }: PriceQuestion): Promise<PollPrice> {
  const estimate = await estimatePoll(parts, typicalOrder({ preset, confidence_threshold: threshold }, options));
  const { expected_calls, roster_size } = estimate.models;
  // The forecast prices every call as the mean of the panel, so the whole panel is that many times one call.
  const wholeUsd = expected_calls === 0 ? 0 : (estimate.cost_usd.expected / expected_calls) * roster_size;
  return { estimate, wholeUsd, saving: roster_size === 0 ? 0 : 1 - expected_calls / roster_size };
}

/** What single votes of such a poll cost, model by model. */
export async function votePrices({ panels, health }: Parts, question: PriceQuestion): Promise<VotePrice[]> {
  const { preset, options, threshold } = question;
  const order = typicalOrder({ preset, confidence_threshold: threshold }, options);
  const panel = panels.panel(order.panel_name);
  const records = await health.snapshot(panel.models.map(({ id }) => id));
  const seats = seatsFor(panel, pollTextOf(order), records);
  const usual = typicalCostsFor(panel, pollTextOf(order));
  return panel.models.map(({ id, price }, i) => ({
    modelId: id,
    input: price.input,
    output: price.output,
    usualU: usual[i]!,
    mostU: BigInt(seats[i]!.reserve_u),
  }));
}
