// Made-up latencies, because recorded vote files have none: log-normal around a median for each model, with occasional
// stragglers, and always the same for the same poll and model. The parameters are chosen so that a call takes 4.4
// seconds on average and the slowest of nine 12.5. The gain of a hedge depends on them: without stragglers, waiting for
// all models is hardly slower than need + 1.
import { chance } from '../terminal/chance.ts';

const MEDIAN_MS = { from: 1_000, to: 8_000 };
const SPREAD = 0.5;
const STRAGGLERS = { share: 0.04, factor: 4 };

/** How long `model` takes for the poll `id`, in milliseconds. */
export function replayedLatencyMs(model: string, id: string): number {
  const median = chance(model).between(MEDIAN_MS.from, MEDIAN_MS.to);
  const draws = chance(`${id} ${model}`);
  const latency = draws.latency(median, SPREAD);
  return draws.happens(STRAGGLERS.share) ? latency * STRAGGLERS.factor : latency;
}
