import { sql } from 'kysely';
import { withLock } from './locks.ts';
import type { Queries, Storage } from './open-storage.ts';

// Housekeeping, by one process at a time.

/** A sweep takes well under a second; a lock held longer than this is considered abandoned. */
const LOCK_TERM_MS = 5_000;

/** Runs `work` unless another process is sweeping; false says that one is. */
export function withSweepLock(storage: Storage, work: () => Promise<unknown>, termMs = LOCK_TERM_MS): Promise<boolean> {
  return withLock(storage, 'sweep', termMs, work);
}

const KEPT_HEARTBEATS = '32 days';
/** The processor repeats an event for three days, and lists it for thirty. */
const KEPT_EVENTS = '31 days';
/** Failed payments are kept for questions; their authorizations are long over. */
const KEPT_FAILURES = '90 days';
const KEPT_CALLER_DAYS = 90;

/** What is over, in each table. Each condition has an index, or its table is small. */
const EXPIRED = {
  idempotency: sql`expires_at <= now()`,
  nonces: sql`expires_at <= now()`,
  logins: sql`expires_at <= now()`,
  heartbeats: sql`minute < now() - ${KEPT_HEARTBEATS}::interval`,
  webhook_events: sql`received_at < now() - ${KEPT_EVENTS}::interval`,
  caller_days: sql`day < (now() at time zone 'utc')::date - ${KEPT_CALLER_DAYS}::integer`,
  deposits: sql`state = 'failed' and closed_at < now() - ${KEPT_FAILURES}::interval`,
} as const;

/** Deletes what has expired, at most `limit` rows of each kind; returns how many. */
export async function pruneExpired({ db }: Queries, limit = 5_000): Promise<number> {
  let pruned = 0;
  for (const [table, expired] of Object.entries(EXPIRED)) {
    const name = sql.table(table);
    // An array is read row by row; a subquery may be planned as a join with the whole table when statistics are old.
    const { numAffectedRows } = await sql`
      delete from ${name} where ctid = any(array(
        select ctid from ${name} where ${expired} limit ${limit} for update skip locked))`.execute(db);
    pruned += Number(numAffectedRows ?? 0n);
  }
  return pruned;
}
