import { setTimeout as delay } from 'node:timers/promises';

// A test that compares its own days or hours with those of Postgres must not run across the end of one.

const HOUR_MS = 3_600_000;
const PERIODS_MS = { hour: HOUR_MS, day: 24 * HOUR_MS };
type Period = keyof typeof PERIODS_MS;
/** Longer than such a test takes on a busy machine. */
const MIN_LEFT_MS = 60_000;

/** Waits for the next UTC hour or day if the present one ends too soon for a test. */
export async function withinOne(period: Period): Promise<void> {
  const ms = msToWait(period, Date.now());
  if (ms > 0) await delay(ms);
}

export function msToWait(period: Period, now: number): number {
  const leftMs = PERIODS_MS[period] - (now % PERIODS_MS[period]);
  // Wait slightly longer, because a timer may fire a little early.
  return leftMs < MIN_LEFT_MS ? leftMs + 50 : 0;
}
