import { sql } from 'kysely';
import type { Queries, Storage } from './open-storage.ts';

// Housekeeping that any process may do and one does at a time.

const SWEEP_LOCK = 7_205_759_404;

/** A sweep takes well under a second; whoever holds the lock longer without a word was paused, or is gone. */
const PATIENCE_MS = 5_000;

/**
 * Runs `work` unless another process is sweeping; false says that one is. The lock belongs to a transaction of its own,
 * which Postgres ends when nothing is heard from it: neither a process that died nor one that was stopped in the middle
 * (a frozen machine, a lost network) keeps the others from sweeping. What `work` does must be safe to repeat.
 */
export function withSweepLock(
  storage: Storage,
  work: () => Promise<unknown>,
  patienceMs = PATIENCE_MS,
): Promise<boolean> {
  return storage.db.transaction().execute(async (db) => {
    const { rows } = await sql<{ locked: boolean }>`
      select pg_try_advisory_xact_lock(${SWEEP_LOCK}) as locked,
             set_config('idle_in_transaction_session_timeout', ${String(patienceMs)}, true)`.execute(db);
    if (!rows[0]!.locked) return false;
    await work();
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
