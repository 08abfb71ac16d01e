import { sql } from 'kysely';
import { lockAccount } from './accounts.ts';
import { unpaidCheckouts } from './checkouts.ts';
import type { Lease } from './leases.ts';
import type { Queries, Storage } from './open-storage.ts';
import { inTransaction } from './transaction.ts';

// What operators do with an account. A frozen one keeps everything and may use nothing. A closed one is forgotten: what it
// asked and what it is known by goes, at once where it can be read, the rest in steps (closed-accounts.ts). Ledger and
// payments stay.

export interface Shut {
  /** Hashes of its keys, for invalidating caches. */
  keys: Buffer[];
  /** Its running polls, whose time is over. */
  ended: Lease[];
}

/** Null when there is no such account, or it is frozen or closed already. */
export function freezeAccount(storage: Storage, accountId: string): Promise<Shut | null> {
  return inTransaction(storage, async (tx) => {
    if (!(await lockAccount(tx, accountId))) return null;
    const row = await tx.db
      .updateTable('accounts')
      .set({ frozen_at: sql<Date>`now()` })
      .where('id', '=', accountId)
      .where('frozen_at', 'is', null)
      .returning('id')
      .executeTakeFirst();
    return row ? { keys: await activeKeys(tx, accountId), ended: await endPolls(tx, accountId) } : null;
  });
}

/** The keys that it can use again; null when it was not frozen. */
export function unfreezeAccount(storage: Storage, accountId: string): Promise<Buffer[] | null> {
  return inTransaction(storage, async (tx) => {
    const row = await tx.db
      .updateTable('accounts')
      .set({ frozen_at: null })
      .where('id', '=', accountId)
      .where('frozen_at', 'is not', null)
      .where('deleted_at', 'is', null)
      .returning('id')
      .executeTakeFirst();
    return row ? activeKeys(tx, accountId) : null;
  });
}

export interface AccountClosing {
  /** Sees what the account has when nothing can come in any more; what it throws leaves the account as it is. */
  onMoney?(left: { postedU: bigint; unpaidCheckouts: number }): void;
  /** Gets the hashes of its keys. */
  beforeCommit?(keys: Buffer[]): Promise<void>;
}

/**
 * Forgets who the account belongs to: identities, keys, logins, e-mail address. Its results cannot be read from then on;
 * `emptyClosedAccounts` deletes them in steps, and its idempotency keys, which a poll that is being accepted locks before
 * the account. Null when there is no such account.
 */
export function closeAccount(
  storage: Storage,
  accountId: string,
  { onMoney, beforeCommit }: AccountClosing = {},
): Promise<Shut | null> {
  return inTransaction(storage, async (tx) => {
    const { db } = tx;
    // Payments before the account, as where they are credited: one that is credited meanwhile is seen below.
    await sql`select from checkouts where account_id = ${accountId} order by id for update`.execute(db);
    if (!(await lockAccount(tx, accountId))) return null;
    const keys = await activeKeys(tx, accountId);
    const ended = await endPolls(tx, accountId);
    // After polls, as where they end.
    const { rows } = await sql<{ posted_u: bigint }>`
      select posted_u from balances where account_id = ${accountId} for update`.execute(db);
    onMoney?.({ postedU: rows[0]?.posted_u ?? 0n, unpaidCheckouts: (await unpaidCheckouts(tx, accountId)).length });
    await sql`
      select cancel_batch(id, account_id) from batches where account_id = ${accountId} and status = 'running'`.execute(
      db,
    );
    await db
      .updateTable('accounts')
      .set({ deleted_at: sql<Date>`now()`, frozen_at: sql<Date>`coalesce(frozen_at, now())`, email: null })
      .where('id', '=', accountId)
      .execute();
    await db.deleteFrom('logins').where('account_id', '=', accountId).execute();
    await db.deleteFrom('identities').where('account_id', '=', accountId).execute();
    await db.deleteFrom('api_keys').where('account_id', '=', accountId).execute();
    await db.deleteFrom('saved_panels').where('account_id', '=', accountId).execute();
    await sql`select remove_webhook_endpoints(${accountId}, null)`.execute(db);
    await db.deleteFrom('feedback').where('account_id', '=', accountId).execute();
    await db.deleteFrom('caller_days').where('caller', '=', accountId).execute();
    await db.updateTable('checkouts').set({ url: null }).where('account_id', '=', accountId).execute();
    await db
      .updateTable('deposits')
      .set({ proof: JSON.stringify({}) })
      .where('account_id', '=', accountId)
      .execute();
    await beforeCommit?.(keys);
    return { keys, ended };
  });
}

async function activeKeys({ db }: Queries, accountId: string): Promise<Buffer[]> {
  const rows = await db
    .selectFrom('api_keys')
    .select('hash')
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .execute();
  return rows.map(({ hash }) => hash);
}

/** A worker takes each of them and stores what it has; its holder cannot store anything any more. */
async function endPolls({ db }: Queries, accountId: string): Promise<Lease[]> {
  // In the order in which polls that end together lock them.
  await db
    .selectFrom('polls')
    .select('id')
    .where('account_id', '=', accountId)
    .where('status', '=', 'running')
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  return db
    .updateTable('polls')
    .set({ deadline_at: sql<Date>`now()`, lease_owner: null, lease_until: sql<Date>`now()` })
    .where('account_id', '=', accountId)
    .where('status', '=', 'running')
    .returning(['id', 'lease_epoch as epoch'])
    .execute();
}
