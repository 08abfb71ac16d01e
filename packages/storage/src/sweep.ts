import { sql } from 'kysely';
import type { Queries, Storage } from './open-storage.ts';

// Housekeeping that any process may do and one does at a time.

const SWEEP_LOCK = 7_205_759_404;

/**
 * Runs `work` unless another process is sweeping; false says that one is. The lock belongs to a connection of its own
 * and goes with it, so a process that dies never blocks the next sweep. What `work` does must be safe to repeat: a
 * connection that breaks gives the lock up early.
 */
export function withSweepLock(storage: Storage, work: () => Promise<unknown>): Promise<boolean> {
  return storage.db.connection().execute(async (db) => {
    const { rows } = await sql<{ locked: boolean }>`select pg_try_advisory_lock(${SWEEP_LOCK}) as locked`.execute(db);
    if (!rows[0]!.locked) return false;
    try {
      await work();
    } finally {
      await sql`select pg_advisory_unlock(${SWEEP_LOCK})`.execute(db);
    }
    return true;
  });
}

const KEPT_HEARTBEATS = '32 days';

/** Deletes what nobody may use any more, at most `limit` rows of each kind; returns how many. */
export async function pruneExpired({ db }: Queries, limit = 5_000): Promise<number> {
  const kinds = [
    sql`delete from idempotency where ctid in
          (select ctid from idempotency where expires_at <= now() limit ${limit} for update skip locked)`,
    sql`delete from nonces where ctid in
          (select ctid from nonces where expires_at <= now() limit ${limit} for update skip locked)`,
    sql`delete from cookie_sessions where ctid in
          (select ctid from cookie_sessions where expires_at <= now() limit ${limit} for update skip locked)`,
    sql`delete from heartbeats where ctid in
          (select ctid from heartbeats where minute < now() - ${KEPT_HEARTBEATS}::interval limit ${limit}
             for update skip locked)`,
  ];
  let pruned = 0;
  for (const kind of kinds) pruned += Number((await kind.execute(db)).numAffectedRows ?? 0n);
  return pruned;
}
