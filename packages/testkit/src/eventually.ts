import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';

const WITHIN_MS = 20_000;
const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 50;

/**
 * Waits until the condition holds, and returns its value. A condition that throws does not hold yet.
 * Fails with `did not happen within N ms: WHAT` and what was seen last.
 */
export async function eventually<T>(
  what: string,
  condition: () => T | Promise<T>,
  withinMs: number = WITHIN_MS,
): Promise<Happened<T>> {
  const deadline = performance.now() + withinMs;
  let pause = FIRST_PAUSE_MS;
  for (;;) {
    const seen = await attempt(condition, deadline);
    if ('value' in seen && seen.value) return seen.value as Happened<T>;
    const left = deadline - performance.now();
    if (left <= 0) throw failure(what, withinMs, seen);
    await delay(Math.min(pause, left));
    pause = Math.min(pause * 2, MAX_PAUSE_MS);
  }
}

type Happened<T> = Exclude<T, false | 0 | '' | null | undefined>;
type Seen<T> = { value: T } | { error: unknown } | { unanswered: true };

// A condition that never answers must not outlast the deadline.
async function attempt<T>(condition: () => T | Promise<T>, deadline: number): Promise<Seen<T>> {
  const late = new AbortController();
  const unanswered = delay(Math.max(0, deadline - performance.now()), { unanswered: true } as const, {
    signal: late.signal,
  });
  unanswered.catch(() => {});
  const answered = (async () => ({ value: await condition() }))().catch((error: unknown) => ({ error }));
  try {
    return await Promise.race([answered, unanswered]);
  } finally {
    late.abort();
  }
}

function failure(what: string, withinMs: number, seen: Seen<unknown>): Error {
  const sentence = `did not happen within ${withinMs} ms: ${what}`;
  if ('error' in seen) {
    const message = seen.error instanceof Error ? seen.error.message : String(seen.error);
    return new Error(`${sentence} (last error: ${message})`, { cause: seen.error });
  }
  if ('unanswered' in seen) return new Error(`${sentence} (the condition did not answer)`);
  return new Error(seen.value === false ? sentence : `${sentence} (last seen: ${inspect(seen.value)})`);
}
