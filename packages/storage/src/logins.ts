import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

// The row that an `ep_session` cookie refers to. A login ends when it is closed, reaches its maximum age, is not used
// for a day, or its account is deleted.

const LIFETIME = '7 days';
const IDLE = '24 hours';
/** `last_seen_at` is updated only this often, so that most requests just read. */
const NOTED_EVERY = '5 minutes';

export interface StoredLogin {
  id: string;
  accountId: string;
  /** The identity that it was created with; null once that identity is gone. */
  identityId: string | null;
  /** An operator froze the account. */
  isFrozen: boolean;
}

export async function insertLogin(
  { db }: Queries,
  { accountId, identityId = null }: { accountId: string; identityId?: string | null },
): Promise<string> {
  const row = await db
    .insertInto('logins')
    .values({
      account_id: accountId,
      identity_id: identityId,
      expires_at: sql<Date>`now() + ${LIFETIME}::interval`,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

export async function findLogin({ db }: Queries, id: string): Promise<StoredLogin | null> {
  const row = await db
    .selectFrom('logins')
    .innerJoin('accounts', 'accounts.id', 'logins.account_id')
    .select([
      'logins.id',
      'logins.account_id',
      'logins.identity_id',
      sql<boolean>`frozen_at is not null`.as('is_frozen'),
      sql<boolean>`last_seen_at < now() - ${NOTED_EVERY}::interval`.as('due'),
    ])
    .where('logins.id', '=', id)
    .where('ended_at', 'is', null)
    .where('accounts.deleted_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .where('last_seen_at', '>', sql<Date>`now() - ${IDLE}::interval`)
    .executeTakeFirst();
  if (!row) return null;
  if (row.due) {
    await db.updateTable('logins').set({ last_seen_at: sql<Date>`now()` }).where('id', '=', id).execute();
  }
  return { id: row.id, accountId: row.account_id, identityId: row.identity_id, isFrozen: row.is_frozen };
}

/** Ends a login; every copy of its cookie is invalid from then on. */
export async function closeLogin({ db }: Queries, id: string): Promise<void> {
  await db
    .updateTable('logins')
    .set({ ended_at: sql<Date>`now()` })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .execute();
}

/** Ends every login of an account; returns how many there were. */
export async function closeLogins({ db }: Queries, accountId: string): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('logins')
    .set({ ended_at: sql<Date>`clock_timestamp()` })
    .where('account_id', '=', accountId)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** Whether the login was created within the last `minutes` minutes. */
export async function isRecentLogin({ db }: Queries, id: string, minutes: number): Promise<boolean> {
  const row = await db
    .selectFrom('logins')
    .select('id')
    .where('id', '=', id)
    .where('created_at', '>', sql<Date>`now() - ${minutes} * interval '1 minute'`)
    .executeTakeFirst();
  return row !== undefined;
}
