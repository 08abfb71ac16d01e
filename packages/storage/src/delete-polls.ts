import { isPollId, pollIdsOfResult } from '@eloquentpoll/polls';
import { sql } from 'kysely';
import type { Queries, Storage } from './open-storage.ts';
import { inTransaction } from './transaction.ts';

// A deleted poll is emptied: nothing that its caller or a model wrote is left of it, and it belongs to no account any
// more. Ids and numbers stay, because ledger, sealed days of receipts and published figures are made of them.

export type PollDeletion =
  | { outcome: 'deleted'; pollId: string }
  /** It has to end first. */
  | { outcome: 'running'; pollId: string }
  /** The account has no such poll. */
  | { outcome: 'unknown' };

/** By the id of the poll or of its result. */
export function deletePoll(storage: Storage, accountId: string, id: string): Promise<PollDeletion> {
  return inTransaction(storage, async (tx) => {
    const { since, until } = pollIdsOfResult(id);
    const poll = await tx.db
      .selectFrom('polls')
      .select(['id', 'status'])
      .where(isPollId(id) ? 'id' : 'result_id', '=', id)
      .where('id', '>=', since)
      .where('id', '<', until)
      .where('account_id', '=', accountId)
      .executeTakeFirst();
    if (!poll) return { outcome: 'unknown' };
    if (poll.status === 'running') return { outcome: 'running', pollId: poll.id };
    const [deleted] = await emptyPolls(tx, [poll.id]);
    return deleted === undefined ? { outcome: 'unknown' } : { outcome: 'deleted', pollId: deleted };
  });
}

/** Of the polls with these ids those that had ended and were not empty; they are now. */
export async function emptyPolls({ db }: Queries, pollIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select empty_polls(${pollIds}::text[]) as id`.execute(db);
  return rows.map(({ id }) => id);
}

/** Empties ended polls whose time is over, the first ones first; fewer than `limit` when none is left. */
export async function emptyExpiredPolls({ db }: Queries, limit = 500): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select empty_expired_polls(${limit}) as id`.execute(db);
  return rows.map(({ id }) => id);
}
