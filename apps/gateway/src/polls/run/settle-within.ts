/**
 * What the promise comes to, unless the time is over or one of the signals aborts before it. A timer and listeners of its
 * own: AbortSignal.any and an aborted sleep would cost more than the rest of a request's wait.
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
