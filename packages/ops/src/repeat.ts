import { setTimeout as wait } from 'node:timers/promises';
import { withTimeout } from './with-timeout.ts';

export interface Rounds {
  /** The pause between two rounds, up to a quarter more or less, so that processes do not all work at the same time. */
  everyMs: number;
  /** The pause before the first round. */
  firstMs?: number;
  onError(error: unknown): void;
}

/** How long a running round may take to stop at the end. */
const SHUTDOWN_GRACE_MS = 2_000;

/** Repeats `round` until disposed, which also aborts the signal. A round may return the pause until the next one. */
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
