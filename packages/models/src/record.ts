// What is known about a model from its own calls: how many, how many failed, and the latencies of good ones. Old calls
// fade with a half-life. Latencies are counted in bins, each a third wider than the one before, so a record is a short
// list of numbers however many calls it covers, and records of several workers can be added.
import { MAX_FAILURE_RATE } from '@eloquentpoll/voting/failure-rate';

/** A model's recent calls, weighted by age. */
export interface CallTally {
  calls: number;
  fails: number;
  /** Successful calls by latency bin. */
  bins: number[];
}

/** What polls and estimates need to know about a model. */
export interface ModelRecord {
  /** Probability that it gives no vote, at most MAX_FAILURE_RATE. 0 if unknown. */
  failureRate: number;
  p50Ms: number;
  p90Ms: number;
  /** Number of recent calls behind these figures. 0 if they come from the roster file. */
  calls: number;
  /** True from when its breaker opens until a call succeeds, also while a probe runs or is due. */
  failing: boolean;
}

export const HALF_LIFE_MS = 30 * 60_000;
const MIN_MS = 20;
const GROWTH = 1.3;
export const BINS = 36;
/** With fewer good calls than this, the roster file's latencies are better than our own. */
const ENOUGH_CALLS = 10;

export function emptyTally(): CallTally {
  return { calls: 0, fails: 0, bins: Array<number>(BINS).fill(0) };
}

export function binOf(latencyMs: number): number {
  const bin = Math.floor(Math.log(Math.max(latencyMs, MIN_MS) / MIN_MS) / Math.log(GROWTH));
  return Math.min(BINS - 1, bin);
}

/** Adds one vote. `latencyMs`: null if it failed. */
export function countVote(tally: CallTally, latencyMs: number | null): void {
  tally.calls += 1;
  if (latencyMs === null) tally.fails += 1;
  else tally.bins[binOf(latencyMs)]! += 1;
}

export function add(into: CallTally, other: CallTally): void {
  into.calls += other.calls;
  into.fails += other.fails;
  for (let i = 0; i < BINS; i += 1) into.bins[i]! += other.bins[i] ?? 0;
}

/** The latency that a share `q` of the good calls stayed below, interpolated inside its bin. */
export function percentileMs(bins: readonly number[], q: number): number {
  const rank = q * bins.reduce((sum, n) => sum + n, 0);
  let below = 0;
  for (const [bin, n] of bins.entries()) {
    if (n > 0 && below + n >= rank) return MIN_MS * GROWTH ** (bin + (rank - below) / n);
    below += n;
  }
  return MIN_MS * GROWTH ** bins.length;
}

export function summary(
  tally: CallTally,
  ageMs: number,
  panel: { p50Ms: number; p90Ms: number },
  failing: boolean,
): ModelRecord {
  const fade = 0.5 ** (Math.max(0, ageMs) / HALF_LIFE_MS);
  const calls = tally.calls * fade;
  const known = (tally.calls - tally.fails) * fade >= ENOUGH_CALLS;
  return {
    // A prior of one failure in twenty calls, so that a single failure does not look like a pattern.
    failureRate: calls < 0.5 ? 0 : Math.min(MAX_FAILURE_RATE, (tally.fails * fade + 1) / (calls + 20)),
    p50Ms: known ? Math.round(percentileMs(tally.bins, 0.5)) : panel.p50Ms,
    p90Ms: known ? Math.round(percentileMs(tally.bins, 0.9)) : panel.p90Ms,
    calls: Math.round(calls),
    failing,
  };
}
