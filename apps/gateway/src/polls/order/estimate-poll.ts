import type { Estimate } from '@eloquentpoll/contracts';
import { listPrice, seatsFor } from '@eloquentpoll/models/panels';
import { type PollOrder, recordRules, rulesOf, votingSeat } from '@eloquentpoll/polls';
import { askingOrder, type EstimateSeat, estimate, type Rules } from '@eloquentpoll/voting';
import { pricePpmOf } from '../../config/list-prices.ts';
import type { PollsContext } from '../context.ts';
import { type AskingNow, askingNow } from './asking-now.ts';
import { pollTextOf } from './freeze-order.ts';
import { keptForecasts, type PollForecast } from './kept-forecasts.ts';

// Estimates an order from the panel's prices and the models' records, without asking a model. A forecast takes
// milliseconds and depends only on its inputs, so recent ones are cached: callers repeat the same few polls, and
// records change every few seconds at most.

const kept = keptForecasts();

type Needs = Pick<PollsContext, 'panels' | 'modelsOut' | 'health' | 'config' | 'trackRecords'>;

export const estimatePoll = async (context: Needs, order: PollOrder): Promise<Estimate> =>
  (await estimateWithWhole(context, order)).estimate;

/** The estimate, and the typical cost of asking the whole panel in US dollars. */
export async function estimateWithWhole(
  context: Needs,
  order: PollOrder,
): Promise<{ estimate: Estimate; wholeUsd: number }> {
  const { health, config } = context;
  const asking = await askingNow(context, order);
  const { panel } = asking;
  const records = await health.snapshot(panel.models.map((model) => model.id));
  const pricePpm = pricePpmOf(config, order);
  const seats = seatsFor(panel, pollTextOf(order), { records, pricePpm }).map((seat) => ({
    ...votingSeat(seat),
    typicalCostU: listPrice(BigInt(seat.call_typical_u!), pricePpm),
    p50Ms: records.get(seat.model_id)!.p50Ms,
    p90Ms: seat.p90_ms,
  }));
  const forecast = forecastOf(order, asking, seats);
  const sampleSize = [...records.values()].reduce((sum, record) => sum + record.calls, 0);
  return { estimate: toEstimate(order, seats.length, forecast, sampleSize), wholeUsd: usd(forecast.wholeU) };
}

/** For a free panel without any open-weight model. */
const NO_FORECAST: PollForecast = {
  calls: { min: 0, expected: 0, max: 0 },
  costU: { min: 0n, expected: 0n, max: 0n },
  wholeU: 0n,
  latencyMs: { min: 0, expected: 0, max: 0, p50: 0, p95: 0 },
  earlyTermination: { probability: 0, likelyReason: 'roster_exhausted' },
};

function forecastOf(order: PollOrder, { trackRecord, known, pricesU }: AskingNow, inFile: readonly EstimateSeat[]) {
  if (inFile.length === 0) return NO_FORECAST;
  const priced = inFile.map(({ family }, i) => ({ family, typicalCostU: pricesU[i]! }));
  // Models of equal price may come in any order: the difference is too small for a second forecast.
  const seats =
    trackRecord?.order === 'cheapest' ? askingOrder('cheapest', priced, '').map((seat) => inFile[seat]!) : inFile;
  const rules = rulesOf(order);
  const record = trackRecord && [trackRecord.order, trackRecord.lock_only, known?.roster.version, known?.updatedAt];
  const key = [rules, ...seats, record ?? {}].flatMap((each) => Object.values(each) as unknown[]).join(' ');
  const before = kept.get(key);
  if (before) return before;
  const braked: Rules = trackRecord
    ? { ...rules, ...recordRules(trackRecord, seats.length, known?.record ?? null) }
    : rules;
  const made = estimate(braked, seats);
  kept.set(key, made);
  return made;
}

function toEstimate(order: PollOrder, panelSize: number, forecast: PollForecast, sampleSize: number): Estimate {
  const { calls, costU, latencyMs, earlyTermination } = forecast;
  return {
    preset: order.panel_name,
    options: order.options.length,
    poll_type: 'fptp',
    confidence_threshold: order.confidence_threshold,
    currency: 'USD',
    models: {
      roster_size: panelSize,
      min_calls: calls.min,
      expected_calls: rounded(calls.expected),
      max_calls: calls.max,
    },
    cost_usd: { min: usd(costU.min), expected: usd(costU.expected), max: usd(costU.max) },
    latency_ms: { p50: Math.round(latencyMs.p50), p95: Math.round(latencyMs.p95) },
    early_termination: {
      probability: rounded(earlyTermination.probability),
      likely_reason: earlyTermination.likelyReason,
    },
    basis: sampleSize > 0 ? 'recent_polls' : 'catalog_prices',
    sample_size: sampleSize,
    generated_at: new Date().toISOString(),
  };
}

/** Four decimals: an estimate is no more exact than that. */
const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;

const usd = (microUsd: bigint): number => Number(microUsd) / 1_000_000;
