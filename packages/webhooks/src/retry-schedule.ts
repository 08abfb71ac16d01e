// When a delivery is retried: soon at first, because most failures are short, and for three days in total.

const S = 1_000;
const M = 60 * S;
const H = 60 * M;
/** The pauses after the first attempt, the second, and so on. */
const PAUSES_MS = [5 * S, M, 5 * M, 30 * M, 2 * H, 5 * H, 10 * H, 14 * H, 20 * H, 20 * H] as const;

export const MAX_TRIES = PAUSES_MS.length + 1;

/** A receiver may ask for a longer pause, up to this. */
const MAX_RETRY_AFTER_MS = H;

/**
 * Up to a tenth more or less, so that deliveries that failed together are not retried together. Null after the last
 * attempt.
 */
export function retryMs(tries: number, retryAfterMs = 0, random = Math.random): number | null {
  const pause = PAUSES_MS[tries - 1];
  if (pause === undefined) return null;
  return Math.round(Math.max(pause * (0.9 + random() * 0.2), Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)));
}
