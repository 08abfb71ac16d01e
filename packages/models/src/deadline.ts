import type { VoteError } from '@eloquentpoll/contracts';

/** The end of everything that a vote waits for: time is up, or the caller no longer wants the vote. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Why it ended. Null if it has not. */
  error(): Extract<VoteError, 'timeout' | 'aborted'> | null;
  leftMs(): number;
  /** Ends it as if the caller had. */
  stop(): void;
  /** Frees the timer and the caller's signal. */
  clear(): void;
}

export function deadline(ms: number, caller: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  const endsAt = performance.now() + ms;
  let error: ReturnType<Deadline['error']> = null;
  const end = (why: NonNullable<typeof error>): void => {
    error ??= why;
    controller.abort();
  };
  const stop = (): void => end('aborted');
  const timer = setTimeout(() => end('timeout'), Math.max(0, ms));
  if (caller?.aborted) stop();
  else caller?.addEventListener('abort', stop, { once: true });
  return {
    signal: controller.signal,
    error: () => error,
    leftMs: () => endsAt - performance.now(),
    stop,
    clear() {
      clearTimeout(timer);
      caller?.removeEventListener('abort', stop);
    },
  };
}

/** Sleeps. Returns at once when the signal aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(wake, ms);
    function wake(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      resolve();
    }
    signal.addEventListener('abort', wake, { once: true });
  });
}
