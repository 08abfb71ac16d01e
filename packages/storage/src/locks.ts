import { sql } from 'kysely';
import type { Storage } from './open-storage.ts';

// Work that any process may do and one does at a time.

const LOCKS = {
  sweep: 7_205_759_404,
  /** Asking the payment processor what became of checkouts. */
  checkouts: 7_205_759_405,
  /** Sending transactions from our own wallet. */
  signer: 7_205_759_406,
  ledger: 7_205_759_407,
} as const;
export type LockName = keyof typeof LOCKS;

/**
 * Runs `work` unless another process is at it; false says that one is. The lock belongs to a transaction of its own,
 * which Postgres ends when nothing is heard from it for `patienceMs`: neither a process that died nor one that was
 * stopped in the middle (a frozen machine, a lost network) keeps the others from working. What `work` does must be safe
 * to repeat.
 */
export function withLock(
  storage: Storage,
  name: LockName,
  patienceMs: number,
  work: () => Promise<unknown>,
): Promise<boolean> {
  return storage.db.transaction().execute(async (db) => {
    const { rows } = await sql<{ locked: boolean }>`
      select pg_try_advisory_xact_lock(${LOCKS[name]}) as locked,
             set_config('idle_in_transaction_session_timeout', ${String(patienceMs)}, true)`.execute(db);
    if (!rows[0]!.locked) return false;
    await work();
    return true;
  });
}
