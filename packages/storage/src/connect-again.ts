import { setTimeout as wait } from 'node:timers/promises';

// Without a connection nothing was sent, so the caller may safely try again, but only for a moment. It begins with the
// first failure and is shared by all callers: an outage is noticed that much later, and later callers fail at once.

interface Repetition {
  /** No attempt begins later than this after the first failure. */
  forMs: number;
  /** False for a failure that does not go away in a moment. */
  mayPass(error: unknown): boolean;
  /** How many callers may retry at the same time; the others fail at once. */
  max?: number;
}

/** Repeats an attempt that failed. */
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
        // Spread the retries of callers that failed together.
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
