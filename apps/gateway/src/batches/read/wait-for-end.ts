import { setTimeout as wait } from 'node:timers/promises';
import { findBatch, type Storage, type StoredBatch } from '@eloquentpoll/storage';

/** A batch takes minutes, so its end may be noticed this late. */
const LOOK_EVERY_MS = 1_000;

/** The batch once it has ended, or as it is after `ms` or when `stop` aborts; null when it was deleted meanwhile. */
export async function waitForEnd(
  storage: Storage,
  batch: StoredBatch,
  ms: number,
  stop: AbortSignal,
): Promise<StoredBatch | null> {
  const endsAt = performance.now() + ms;
  let newest: StoredBatch | null = batch;
  while (newest?.endedAt === null && !stop.aborted) {
    const leftMs = endsAt - performance.now();
    if (leftMs <= 0) break;
    await wait(Math.min(LOOK_EVERY_MS, leftMs), null, { signal: stop }).catch(() => null);
    newest = await findBatch(storage, batch.accountId, batch.id);
  }
  return newest;
}
