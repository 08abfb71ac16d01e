/**
 * The promise's value, unless the time runs out or a signal aborts first. It uses a plain timer and listeners, because
 * AbortSignal.any and an abortable sleep would cost more than the rest of a waiting request.
 */
export function settleWithin<T>(
  promise: Promise<T>,
  timeoutMs: number,
  ...stops: readonly AbortSignal[]
): Promise<T | 'timeout' | 'aborted'> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => settle('timeout'), timeoutMs);
    const abort = (): void => settle('aborted');
    function forget(): void {
      clearTimeout(timer);
      for (const stop of stops) stop.removeEventListener('abort', abort);
    }
    function settle(outcome: T | 'timeout' | 'aborted'): void {
      forget();
      resolve(outcome);
    }
    for (const stop of stops) stop.addEventListener('abort', abort);
    promise.then(settle, (error: unknown) => {
      forget();
      reject(error);
    });
    if (stops.some(({ aborted }) => aborted)) abort();
  });
}
