import { setTimeout as sleep } from 'node:timers/promises';

/** What the promise comes to, unless the time is over or the signal aborts before it. */
export async function settleWithin<T>(
  promise: Promise<T>,
  timeoutMs: number,
  stop: AbortSignal,
): Promise<T | 'timeout' | 'aborted'> {
  const settled = new AbortController();
  const signal = AbortSignal.any([stop, settled.signal]);
  const timeout = sleep(timeoutMs, 'timeout' as const, { signal }).catch(() => 'aborted' as const);
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    settled.abort();
  }
}
