import { sql } from 'kysely';
import { lockAccount } from './accounts.ts';
import { keysEndedLately } from './api-keys.ts';
import { unpaidCheckouts } from './checkouts.ts';
import type { Lease } from './leases.ts';
import type { Queries, Storage } from './open-storage.ts';
import { inTransaction } from './transaction.ts';

// What operators do with an account. A frozen account keeps everything and can use nothing. A closed account is
// forgotten: its questions and identities cannot be read from that moment, and are deleted in steps
// (closed-accounts.ts). Its ledger and payments stay.

export interface Shut {
  /** Hashes of its keys, so that caches can be invalidated. */
  keys: Buffer[];
  /** Its polls that were running; they have to end now. */
  ended: Lease[];
}

/**
 * Null if there is no such account. If it is already frozen, its keys are still returned: the gateway that froze it may
 * have died before it invalidated caches.
 */
export function freezeAccount(storage: Storage, accountId: string): Promise<(Shut & { isRepeated: boolean }) | null> {
  return inTransaction(storage, async (tx) => {
    if (!(await lockAccount(tx, accountId))) return null;
    const row = await tx.db
      .updateTable('accounts')
      .set({ frozen_at: sql<Date>`now()` })
      .where('id', '=', accountId)
      .where('frozen_at', 'is', null)
      .returning('id')
      .executeTakeFirst();
    const isRepeated = row === undefined;
    const ended = isRepeated ? [] : await endPolls(tx, accountId);
    return { keys: await cacheableKeys(tx, accountId), ended, isRepeated };
  });
}

/** Returns the keys that work again; null if the account was not frozen. */
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
    return row ? cacheableKeys(tx, accountId) : null;
  });
}

export interface AccountClosing {
  /** Receives what the account still has, once no more money can come in. If it throws, the account is not closed. */
  onMoney?(left: { postedU: bigint; unpaidCheckouts: number }): void;
  /** Receives the hashes of the account's keys. */
  beforeCommit?(keys: Buffer[]): Promise<void>;
}

/**
 * Forgets who owns the account: identities, keys, logins, e-mail address. Its results cannot be read from then on.
 * `emptyClosedAccounts` deletes them in steps, and also the idempotency keys, which cannot be deleted here: a poll that
 * is being accepted locks its key before the account. Null if there is no such account.
 */
export function closeAccount(
  storage: Storage,
  accountId: string,
  { onMoney, beforeCommit }: AccountClosing = {},
): Promise<Shut | null> {
  return inTransaction(storage, async (tx) => {
    const { db } = tx;
    // Lock payments before the account, as crediting them does. A payment that is credited meanwhile is seen below.
    await sql`select from checkouts where account_id = ${accountId} order by id for update`.execute(db);
    if (!(await lockAccount(tx, accountId))) return null;
    const keys = await cacheableKeys(tx, accountId);
    const ended = await endPolls(tx, accountId);
    // Locked after polls, as when a poll ends.
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

async function cacheableKeys(tx: Queries, accountId: string): Promise<Buffer[]> {
  const rows = await tx.db
    .selectFrom('api_keys')
    .select('hash')
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .execute();
  // A revocation whose gateway died may have left a cached key behind.
  return [...rows.map(({ hash }) => hash), ...(await keysEndedLately(tx, accountId))];
}

/** Moves the deadlines to now and removes the holders: any worker claims each poll and stores what it has. */
async function endPolls({ db }: Queries, accountId: string): Promise<Lease[]> {
  // In the order in which polls that end together are locked.
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
