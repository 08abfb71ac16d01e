import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

interface Repeated {
  /** How long after the deletion it is repeated. */
  afterMs: number;
  limit: number;
  /** Deletes the records of these polls in Redis, or rejects. */
  forget(pollIds: readonly string[]): Promise<void>;
}

/**
 * Repeats deletions of polls in Redis, oldest first; returns how many. An entry is removed only after its repetition,
 * so if the process dies in between, the deletion is repeated once more.
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
  // The statement's text is the same for any number of ids, so it is prepared once.
  await db.deleteFrom('deleted_runs').where(sql<boolean>`poll_id = any(${pollIds}::text[])`).execute();
  return pollIds.length;
}
