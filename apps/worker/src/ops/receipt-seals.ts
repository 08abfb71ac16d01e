import { setTimeout as wait } from 'node:timers/promises';
import { type Logger, withTimeout } from '@eloquentpoll/ops';
import { type Storage, sealReceipts } from '@eloquentpoll/storage';

// Seals the receipts of days that are over, one worker at a time. A seal is logged, because the log is kept elsewhere: a
// day that was sealed anew would have another.

const EVERY_MS = 60_000;
const SHUTDOWN_GRACE_MS = 1_000;

export function keepSealing(storage: Storage, log: Pick<Logger, 'info' | 'warn'>, everyMs = EVERY_MS): AsyncDisposable {
  const stop = new AbortController();

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      // Not all workers at the same moment.
      await wait(everyMs * (0.5 + Math.random()), undefined, { signal: stop.signal, ref: false }).catch(() => {});
      if (stop.signal.aborted) return;
      try {
        for (const { day, receipts, root, seal } of (await sealReceipts(storage)) ?? [])
          log.info({ day, receipts, root: root.toString('hex'), seal: seal.toString('hex') }, 'receipts.day_sealed');
      } catch (error) {
        log.warn({ err: error }, 'receipts.sealing_failed');
      }
    }
  }

  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await withTimeout(running, SHUTDOWN_GRACE_MS).catch(() => {});
    },
  };
}
