import { draws, normal } from './seeded.ts';
import type { Latency } from './traits.ts';

/**
 * How long a model's n-th call takes: log-normal around its median, with occasional stragglers. Deterministic for each
 * n.
 */
export function latencyMs(seed: string, modelId: string, latency: Latency, n: number): number {
  const draw = draws(seed, 'latency', modelId, n);
  const straggling = draw() < latency.straggler_rate ? latency.straggler_factor : 1;
  return latency.p50_ms * Math.exp(latency.sigma * normal(draw)) * straggling;
}
