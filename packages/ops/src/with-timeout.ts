/** `work` did not settle in time. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/**
 * Settles like `work`, or rejects with a TimeoutError after `ms`, or with the reason of `signal` if it aborts first.
 * The work itself is not stopped, and its later result is ignored.
 */
export async function withTimeout<T>(work: T | PromiseLike<T>, ms: number, signal?: AbortSignal): Promise<T> {
  const ended = Promise.withResolvers<never>();
  const abort = (): void => ended.reject(signal?.reason);
  const timer = setTimeout(() => ended.reject(new TimeoutError(`no answer within ${ms} ms`)), ms);
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, ended.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
