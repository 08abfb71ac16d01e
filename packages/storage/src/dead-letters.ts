import type { PollSpec } from '@eloquentpoll/contracts';
import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

// Polls that were given up because several workers died while running them. Each waits for an operator.

export interface BuriedPoll {
  letterId: bigint;
  pollId: string;
  accountId: string | null;
  reason: string;
  claims: number;
  spec: PollSpec;
  createdAt: Date;
}

/** Those not yet closed by an operator, oldest first. */
export async function buriedPolls({ db }: Queries, limit: number, letterId?: bigint): Promise<BuriedPoll[]> {
  let query = db
    .selectFrom('dead_letters')
    .innerJoin('polls', 'polls.id', 'dead_letters.poll_id')
    .select(['dead_letters.id as letterId', 'poll_id as pollId', 'account_id as accountId', 'reason'])
    .select(['dead_letters.claims', 'spec', 'dead_letters.created_at as createdAt'])
    .where('seen_at', 'is', null)
    .orderBy('dead_letters.created_at')
    .limit(limit);
  if (letterId !== undefined) query = query.where('dead_letters.id', '=', letterId);
  return query.execute();
}

/** False if it was closed before. */
export async function noteBuriedSeen({ db }: Queries, letterId: bigint): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('dead_letters')
    .set({ seen_at: sql<Date>`now()` })
    .where('id', '=', letterId)
    .where('seen_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Records the new poll that replaces the one that was given up. */
export async function noteRetried({ db }: Queries, letterId: bigint, pollId: string): Promise<void> {
  await db
    .updateTable('dead_letters')
    .set({ seen_at: sql<Date>`now()`, retried_as: pollId })
    .where('id', '=', letterId)
    .where('retried_as', 'is', null)
    .execute();
}
