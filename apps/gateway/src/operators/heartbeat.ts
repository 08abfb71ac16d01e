import { setTimeout as wait } from 'node:timers/promises';
import { beat } from '@eloquentpoll/storage';
import type { OperatorsContext } from './context.ts';

// Records in Postgres each minute in which a gateway ran, as the source of the uptime figure. Three times a minute, so
// that one failed write leaves no gap; writing a minute twice changes nothing.

const EVERY_MS = 20_000;

/** Runs until disposed. */
export function startHeartbeat(
  { storage, log }: Pick<OperatorsContext, 'storage' | 'log'>,
  everyMs = EVERY_MS,
): Disposable {
  const stop = new AbortController();
  const run = async () => {
    while (!stop.signal.aborted) {
      await beat(storage, 'gateway').catch((error) => log.warn({ err: error }, 'heartbeat.write_failed'));
      await wait(everyMs, undefined, { signal: stop.signal, ref: false }).catch(() => {});
    }
  };
  void run();
  return { [Symbol.dispose]: () => stop.abort() };
}
