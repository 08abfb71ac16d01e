/** `work` did not settle in its time. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

/**
 * What `work` comes to, or a TimeoutError after `ms`, or the reason of `signal` when it aborts first. The work itself is
 * not stopped: what it comes to later is dropped.
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
