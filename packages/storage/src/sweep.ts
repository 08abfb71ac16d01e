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

/** Deletes what has expired, at most `limit` rows of each kind; returns how many. */
export async function pruneExpired({ db }: Queries, limit = 5_000): Promise<number> {
  const kinds = [
    sql`delete from idempotency where ctid in
          (select ctid from idempotency where expires_at <= now() limit ${limit} for update skip locked)`,
    sql`delete from nonces where ctid in
          (select ctid from nonces where expires_at <= now() limit ${limit} for update skip locked)`,
    sql`delete from logins where ctid in
          (select ctid from logins where expires_at <= now() limit ${limit} for update skip locked)`,
    sql`delete from heartbeats where ctid in
          (select ctid from heartbeats where minute < now() - ${KEPT_HEARTBEATS}::interval limit ${limit}
             for update skip locked)`,
    sql`delete from webhook_events where ctid in
          (select ctid from webhook_events where received_at < now() - ${KEPT_EVENTS}::interval limit ${limit}
             for update skip locked)`,
    sql`delete from deposits where ctid in
          (select ctid from deposits
            where state = 'failed' and closed_at < now() - ${KEPT_FAILURES}::interval limit ${limit}
             for update skip locked)`,
  ];
  let pruned = 0;
  for (const kind of kinds) pruned += Number((await kind.execute(db)).numAffectedRows ?? 0n);
  return pruned;
}
