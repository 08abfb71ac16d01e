import { sql } from 'kysely';
import type { Queries, Storage } from './open-storage.ts';
import { inTransaction } from './transaction.ts';

export interface Account {
  id: string;
  email: string | null;
  createdAt: Date;
}

/** A user account with an empty balance. */
export async function createAccount(
  { db }: Queries,
  { id, email }: { id?: string | undefined; email?: string | undefined } = {},
): Promise<string> {
  const row = await db
    .with('created', (cte) =>
      cte
        .insertInto('accounts')
        .values({ ...(id === undefined ? {} : { id }), email: email ?? null })
        .returning('id'),
    )
    .insertInto('balances')
    .columns(['account_id'])
    .expression((eb) => eb.selectFrom('created').select('id'))
    .returning('account_id')
    .executeTakeFirstOrThrow();
  return row.account_id;
}

/** null when there is none or its owner deleted it. */
export async function findAccount({ db }: Queries, accountId: string): Promise<Account | null> {
  const row = await db
    .selectFrom('accounts')
    .select(['id', 'email', 'created_at'])
    .where('id', '=', accountId)
    .where('kind', '=', 'user')
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row ? { id: row.id, email: row.email, createdAt: row.created_at } : null;
}

/** The address that a person was last known by; nothing is written where it is that already. */
export async function noteEmail({ db }: Queries, accountId: string, email: string): Promise<void> {
  await db
    .updateTable('accounts')
    .set({ email })
    .where('id', '=', accountId)
    .where('deleted_at', 'is', null)
    .where('email', 'is distinct from', email)
    .execute();
}

/**
 * Forgets a person: identities, keys, cookies and notes go, polls and results stay public without an owner. The empty
 * account row and its transfers stay, because books are never rewritten. false when there was no such account.
 */
export function deleteAccount(storage: Storage, accountId: string): Promise<boolean> {
  return inTransaction(storage, async ({ db }) => {
    const account = await db
      .updateTable('accounts')
      .set({ deleted_at: sql<Date>`now()`, email: null })
      .where('id', '=', accountId)
      .where('kind', '=', 'user')
      .where('deleted_at', 'is', null)
      .returning('id')
      .executeTakeFirst();
    if (!account) return false;
    await db.deleteFrom('logins').where('account_id', '=', accountId).execute();
    await db.deleteFrom('identities').where('account_id', '=', accountId).execute();
    await db.deleteFrom('api_keys').where('account_id', '=', accountId).execute();
    await db.deleteFrom('idempotency').where('principal', '=', accountId).execute();
    await db
      .updateTable('feedback')
      .set({ account_id: null, notes: null })
      .where('account_id', '=', accountId)
      .execute();
    await db.updateTable('polls').set({ account_id: null }).where('account_id', '=', accountId).execute();
    await db.updateTable('results').set({ account_id: null }).where('account_id', '=', accountId).execute();
    return true;
  });
}
