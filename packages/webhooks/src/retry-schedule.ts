// When a delivery is tried again: soon at first, because most failures are short, and over three days in all.

const S = 1_000;
const M = 60 * S;
const H = 60 * M;
/** After the first attempt, the second, and so on. */
const PAUSES_MS = [5 * S, M, 5 * M, 30 * M, 2 * H, 5 * H, 10 * H, 14 * H, 20 * H, 20 * H] as const;

export const MAX_TRIES = PAUSES_MS.length + 1;

/** A receiver may ask for more, not for ever. */
const MAX_RETRY_AFTER_MS = H;

/** A tenth more or less, so that what failed together does not come back together. Null after the last attempt. */
export function retryMs(tries: number, retryAfterMs = 0, random = Math.random): number | null {
  const pause = PAUSES_MS[tries - 1];
  if (pause === undefined) return null;
  return Math.round(Math.max(pause * (0.9 + random() * 0.2), Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)));
}
