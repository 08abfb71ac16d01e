import type { Queries } from './open-storage.ts';

export interface Account {
  id: string;
  email: string | null;
  createdAt: Date;
  /** Its keys and logins are refused. */
  isFrozen: boolean;
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
    .select(['id', 'email', 'created_at', 'frozen_at'])
    .where('id', '=', accountId)
    .where('kind', '=', 'user')
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row ? { id: row.id, email: row.email, createdAt: row.created_at, isFrozen: row.frozen_at !== null } : null;
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
