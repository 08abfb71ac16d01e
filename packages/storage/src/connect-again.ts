import { setTimeout as wait } from 'node:timers/promises';

// Where no connection was to be had, nothing was sent, so its caller may wait and ask again. Only for a moment, which begins
// with the first failure for all callers together: an outage is noticed that much later, and by later callers at once.

interface Repetition {
  /** No attempt begins later than this after the first failure. */
  forMs: number;
  /** False of a failure that a moment does not mend. */
  mayPass(error: unknown): boolean;
  /** How many may be at it; the others hear of the failure at once. */
  max?: number;
}

/** Asks again for what could not be had. */
type AskAgain = <T>(ask: () => Promise<T>) => Promise<T>;

const FIRST_PAUSE_MS = 100;
const MAX_WAITING = 1_000;

export function askingAgain({ forMs, mayPass, max = MAX_WAITING }: Repetition): AskAgain {
  let failingSince: number | null = null;
  let waiting = 0;

  async function again<T>(ask: () => Promise<T>, until: number, failure: unknown): Promise<T> {
    waiting += 1;
    try {
      let last = failure;
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
        const leftMs = until - performance.now();
        if (leftMs <= 0) throw last;
        // Callers of one failure do not come back together.
        await wait(Math.min(leftMs, pauseMs * (0.5 + Math.random() / 2)));
        try {
          return had(await ask());
        } catch (error) {
          if (!mayPass(error)) throw error;
          last = error;
        }
      }
    } finally {
      waiting -= 1;
    }
  }

  function had<T>(value: T): T {
    failingSince = null;
    return value;
  }

  return async (ask) => {
    const beganAt = performance.now();
    try {
      return had(await ask());
    } catch (error) {
      if (!mayPass(error)) throw error;
      failingSince ??= performance.now();
      if (waiting >= max) throw error;
      return await again(ask, Math.min(beganAt, failingSince) + forMs, error);
    }
  };
}
