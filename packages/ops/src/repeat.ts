import { setTimeout as wait } from 'node:timers/promises';
import { withTimeout } from './with-timeout.ts';

export interface Rounds {
  /** Between two rounds, a quarter more or less, so that processes do not all work at the same moment. */
  everyMs: number;
  /** Before the first one. */
  firstMs?: number;
  onError(error: unknown): void;
}

/** A round that still runs at the end has so long to stop. */
const SHUTDOWN_GRACE_MS = 2_000;

/** Repeats `round` until disposed, which aborts the signal. A round may return the pause before the next one. */
export function repeat(
  round: (signal: AbortSignal) => Promise<number | void>,
  { everyMs, firstMs = everyMs, onError }: Rounds,
): AsyncDisposable {
  const stop = new AbortController();

  async function run(): Promise<void> {
    for (let pauseMs = firstMs; ; ) {
      const jittered = pauseMs * (0.75 + Math.random() / 2);
      await wait(jittered, undefined, { signal: stop.signal, ref: false }).catch(() => {});
      if (stop.signal.aborted) return;
      pauseMs = everyMs;
      try {
        pauseMs = (await round(stop.signal)) ?? everyMs;
      } catch (error) {
        onError(error);
      }
    }
  }

  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await withTimeout(running, SHUTDOWN_GRACE_MS).catch(() => {});
    },
  };
}
