import { sql } from 'kysely';
import type { Storage } from './open-storage.ts';

// Advisory locks for work that one process at a time may do.

const LOCKS = {
  sweep: 7_205_759_404,
  /** Asking the payment processor about the state of checkouts. */
  checkouts: 7_205_759_405,
  /** Sending transactions from our own wallet. */
  signer: 7_205_759_406,
  ledger: 7_205_759_407,
  receipts: 7_205_759_408,
  /** Learning about models. */
  evidence: 7_205_759_412,
  months: 7_205_759_413,
} as const;
export type LockName = keyof typeof LOCKS;

/**
 * Runs `work` unless another process holds the lock; returns false then. The lock belongs to a transaction that
 * Postgres ends after `termMs` without a statement, so neither a dead nor a paused process keeps it.
 * `work` must be safe to repeat.
 */
export function withLock(
  storage: Storage,
  name: LockName,
  termMs: number,
  work: () => Promise<unknown>,
): Promise<boolean> {
  return storage.db.transaction().execute(async (db) => {
    const { rows } = await sql<{ locked: boolean }>`
      select pg_try_advisory_xact_lock(${LOCKS[name]}) as locked,
             set_config('idle_in_transaction_session_timeout', ${String(termMs)}, true)`.execute(db);
    if (!rows[0]!.locked) return false;
    await work();
    return true;
  });
}
