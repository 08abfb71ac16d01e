import { isPollId, pollIdsOfResult } from '@eloquentpoll/polls';
import { sql } from 'kysely';
import type { Queries, Storage } from './open-storage.ts';
import { inTransaction } from './transaction.ts';

// A deleted poll is emptied: nothing that its caller or a model wrote is left, and it no longer belongs to an account.
// Ids and numbers stay, because the ledger, sealed days of receipts and published figures are built from them.

export type PollDeletion =
  | { outcome: 'deleted'; pollId: string }
  /** The poll has to end first. */
  | { outcome: 'running'; pollId: string }
  /** The account has no such poll. */
  | { outcome: 'unknown' };

/** `id`: the id of the poll or of its result. */
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

/** Empties those of these polls that have ended and are not empty yet, and returns their ids. */
export async function emptyPolls({ db }: Queries, pollIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select empty_polls(${pollIds}::text[]) as id`.execute(db);
  return rows.map(({ id }) => id);
}

/** Empties expired polls that have ended, earliest expiry first; fewer than `limit` when none is left. */
export async function emptyExpiredPolls({ db }: Queries, limit = 500): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select empty_expired_polls(${limit}) as id`.execute(db);
  return rows.map(({ id }) => id);
}
