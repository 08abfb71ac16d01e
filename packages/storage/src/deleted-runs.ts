import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

interface Repeated {
  /** Since they were deleted. */
  afterMs: number;
  limit: number;
  /** Deletes what Redis has of these polls, or rejects. */
  forget(pollIds: readonly string[]): Promise<void>;
}

/**
 * Has deletions of polls repeated in Redis, the first ones first; returns how many. They are dropped afterwards: one whose
 * process dies meanwhile is repeated again.
 */
export async function repeatDeletions({ db }: Queries, { afterMs, limit, forget }: Repeated): Promise<number> {
  const due = await db
    .selectFrom('deleted_runs')
    .select('poll_id')
    .where('deleted_at', '<=', sql<Date>`now() - ${afterMs} * interval '1 millisecond'`)
    .orderBy('deleted_at')
    .limit(limit)
    .execute();
  if (due.length === 0) return 0;
  const pollIds = due.map(({ poll_id }) => poll_id);
  await forget(pollIds);
  // One text for any number of them: it is prepared once.
  await db.deleteFrom('deleted_runs').where(sql<boolean>`poll_id = any(${pollIds}::text[])`).execute();
  return pollIds.length;
}
