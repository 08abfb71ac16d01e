import { sql } from 'kysely';
import { withLock } from './locks.ts';
import type { Queries, Storage } from './open-storage.ts';

// Housekeeping, in one process at a time.

/** A sweep takes well under a second; a lock held longer than this counts as abandoned. */
const LOCK_TERM_MS = 5_000;

/** Runs `work` unless another process is sweeping; false if so. */
export function withSweepLock(storage: Storage, work: () => Promise<unknown>, termMs = LOCK_TERM_MS): Promise<boolean> {
  return withLock(storage, 'sweep', termMs, work);
}

/** Deletes what has expired, at most `limit` rows of each kind; returns how many. */
export async function pruneExpired({ db }: Queries, limit = 5_000): Promise<number> {
  const { rows } = await sql<{ pruned: number }>`select prune_expired(${limit}) as pruned`.execute(db);
  return rows[0]!.pruned;
}
