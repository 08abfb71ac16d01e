import { sql } from 'kysely';
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

/** Null if there is none or its owner deleted it. */
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

/** Stores the owner's latest e-mail address; writes nothing if it has not changed. */
export async function noteEmail({ db }: Queries, accountId: string, email: string): Promise<void> {
  await db
    .updateTable('accounts')
    .set({ email })
    .where('id', '=', accountId)
    .where('deleted_at', 'is', null)
    .where('email', 'is distinct from', email)
    .execute();
}

/** The account was deleted after the caller had been authenticated. */
export class AccountClosed extends Error {
  override readonly name = 'AccountClosed';
}

/**
 * Waits for polls of the account that are being accepted. Other writes to the account then wait until this transaction
 * ends. False if the account was deleted or is unknown.
 */
export async function lockAccount({ db }: Queries, accountId: string): Promise<boolean> {
  const row = await db
    .selectFrom('accounts')
    .select('id')
    .where('id', '=', accountId)
    .where('kind', '=', 'user')
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
  return row !== undefined;
}

/** The same, but throws if the account was deleted. */
export async function lockUnclosed(tx: Queries, accountId: string): Promise<void> {
  if (!(await lockAccount(tx, accountId))) await refuseClosed(tx, accountId);
}

/** Throws `AccountMoving` for an account that has left this cell, and `AccountClosed` for any other. */
export async function refuseClosed({ db }: Queries, accountId: string): Promise<never> {
  await sql`select refuse_moved(${accountId})`.execute(db);
  throw new AccountClosed('the account is closed');
}
