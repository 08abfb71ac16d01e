/** Waits. Rejects with the signal's reason if it aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done, stopped) => {
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      done();
    }, ms);
    const stop = () => {
      clearTimeout(timer);
      stopped(signal.reason);
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
