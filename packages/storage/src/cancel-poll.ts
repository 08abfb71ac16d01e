import { sql } from 'kysely';
import type { Queries, Storage } from './open-storage.ts';
import { repeatable } from './transaction.ts';

// A caller no longer wants its poll: no more models are asked; votes received so far are stored and billed.

export type Cancellation =
  | { outcome: 'ended' | 'ended_now' }
  /** `isHeld`: a worker has the poll and is notified; otherwise any worker may claim it. */
  | { outcome: 'ending'; epoch: number; isHeld: boolean };

/** Null if the account has no such poll. Safe to repeat. */
export async function cancelPoll({ db }: Storage, accountId: string, pollId: string): Promise<Cancellation | null> {
  const { rows } = await repeatable(() =>
    sql<{ outcome: Cancellation['outcome']; epoch: number; held: boolean }>`
      select * from cancel_poll(${pollId}, ${accountId}::uuid)`.execute(db),
  );
  const [row] = rows;
  if (!row) return null;
  return row.outcome === 'ending'
    ? { outcome: row.outcome, epoch: row.epoch, isHeld: row.held }
    : { outcome: row.outcome };
}

export async function wasCanceled({ db }: Queries, pollId: string): Promise<boolean> {
  const row = await db
    .selectFrom('polls')
    .select('id')
    .where('id', '=', pollId)
    .where('canceled_at', 'is not', null)
    .executeTakeFirst();
  return row !== undefined;
}
