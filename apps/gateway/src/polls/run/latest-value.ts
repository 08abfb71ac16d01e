/** Hands over the newest of what was rung; what nobody waited for is replaced, not queued. */
export interface Bell<T> {
  ring(news: T): void;
  /** The newest news since the last call, or undefined when the time is over or the signal aborts. */
  next(withinMs: number, stop: AbortSignal): Promise<T | undefined>;
}

export function createBell<T>(): Bell<T> {
  let waiting: ((news: T | undefined) => void) | undefined;
  let missed: { news: T } | undefined;
  return {
    ring(news) {
      if (waiting) waiting(news);
      else missed = { news };
    },
    next(withinMs, stop) {
      const kept = missed;
      missed = undefined;
      if (kept || stop.aborted) return Promise.resolve(kept?.news);
      const { promise, resolve } = Promise.withResolvers<T | undefined>();
      const wake = () => resolve(undefined);
      const timer = setTimeout(wake, withinMs);
      stop.addEventListener('abort', wake);
      waiting = resolve;
      return promise.finally(() => {
        waiting = undefined;
        clearTimeout(timer);
        stop.removeEventListener('abort', wake);
      });
    },
  };
}
