import { setTimeout as wait } from 'node:timers/promises';
import { beat } from '@eloquentpoll/storage';
import type { OperatorsContext } from './context.ts';

// Uptime is what was noted, not what is claimed: a gateway that runs and reaches its database notes the minute. Three
// tries a minute, so that one that fails or comes late makes no hole; the second and third of a minute change nothing.

const EVERY_MS = 20_000;

/** Runs until disposed. */
export function startHeartbeat(
  { storage, log }: Pick<OperatorsContext, 'storage' | 'log'>,
  everyMs = EVERY_MS,
): Disposable {
  const stop = new AbortController();
  const run = async () => {
    while (!stop.signal.aborted) {
      await beat(storage, 'gateway').catch((error) => log.warn({ err: error }, 'heartbeat'));
      await wait(everyMs, undefined, { signal: stop.signal, ref: false }).catch(() => {});
    }
  };
  void run();
  return { [Symbol.dispose]: () => stop.abort() };
}
