import { setTimeout as wait } from 'node:timers/promises';
import { isConflict, lessKnown, mayBeDone } from './errors.ts';
import type { Queries, Storage } from './open-storage.ts';

// The only place that retries. After a conflict (deadlock, serialization) everything was rolled back and may run again.
// After a broken connection the outcome is unknown: only work that recognises its own earlier success may run again.

const MAX_RETRIES = 3;

/** Runs `work` in one transaction; repeats it if Postgres rolled it back for a conflict. */
export function inTransaction<T>(storage: Storage, work: (tx: Queries) => Promise<T>): Promise<T> {
  return againAfterConflict(() => storage.db.transaction().execute((db) => work({ db })));
}

/** Runs `work`, which is a transaction of its own; repeats it if Postgres rolled it back for a conflict. */
export function againAfterConflict<T>(work: () => Promise<T>): Promise<T> {
  return retrying(isConflict, work);
}

/**
 * Runs work that may safely happen twice: again after a conflict, and once more if the answer was lost. The error that
 * it throws says, for all attempts together, whether the work may have been done.
 */
export function repeatable<T>(work: () => Promise<T>): Promise<T> {
  let lost = 0;
  return retrying((error) => isConflict(error) || (mayBeDone(error) && lost++ === 0), work);
}

async function retrying<T>(again: (error: unknown) => boolean, work: () => Promise<T>): Promise<T> {
  let failure: unknown;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      failure = lessKnown(failure, error);
      if (attempt > MAX_RETRIES || !again(error)) throw failure;
      await wait(Math.random() * 20 * 2 ** attempt);
    }
  }
}
