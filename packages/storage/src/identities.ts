import { sql } from 'kysely';
import { findMovedName, isClosedHere, nameOfIdentity, refuseMovedName } from './cells/moved-names.ts';
import { StorageBusy } from './errors.ts';
import type { Queries } from './open-storage.ts';

// Ways to prove one's identity, each for one account. A person is (issuer, subject), never an e-mail address; a wallet
// is its 20 bytes, however it is spelled.

export type Identity =
  | { kind: 'oidc'; issuer: string; subject: string; email?: string | undefined }
  | { kind: 'wallet'; address: Buffer };

export interface KnownIdentity {
  identityId: string;
  accountId: string;
  /** An operator froze the account. */
  isFrozen: boolean;
}

/** Throws `AccountMoving` while the identity's account is moving here. */
export async function findIdentity(queries: Queries, identity: Identity): Promise<KnownIdentity | null> {
  const row = await identityRow(queries, identity);
  if (!row || isClosedHere(row)) return null;
  return { identityId: row.id, accountId: row.account_id, isFrozen: row.is_frozen };
}

async function identityRow({ db }: Queries, identity: Identity) {
  const all = db
    .selectFrom('identities')
    .innerJoin('accounts', 'accounts.id', 'identities.account_id')
    .select([
      'identities.id',
      'account_id',
      'deleted_at',
      'moved_to',
      sql<boolean>`frozen_at is not null`.as('is_frozen'),
    ])
    .where('identities.kind', '=', identity.kind);
  return (
    identity.kind === 'wallet'
      ? all.where('address', '=', identity.address)
      : all.where('issuer', '=', identity.issuer).where('subject', '=', identity.subject)
  ).executeTakeFirst();
}

/**
 * The account of an identity, created on first use (with `newId` if given). Call it in a transaction. Concurrent first
 * uses create one account: the identity is inserted first, and the loser of that race waits and creates nothing.
 */
export async function admitIdentity(
  queries: Queries,
  identity: Identity,
  newId?: string,
): Promise<KnownIdentity & { isNewAccount: boolean }> {
  const known = await findIdentity(queries, identity);
  if (known) return { ...known, isNewAccount: false };
  await refuseMovedName(queries, nameOfIdentity(identity));
  const opened = await openIdentity(queries, identity, newId);
  if (opened) return { ...opened, isNewAccount: true };
  const winner = await findIdentity(queries, identity);
  if (!winner) throw new StorageBusy('the identity was deleted while it was being admitted');
  return { ...winner, isNewAccount: false };
}

/**
 * The account that receives a payment by this wallet. If it has left for another cell or is moving here, the payment is
 * still credited in this cell, which received it, and `settleMoves` sends the money on. Call it in a transaction.
 */
export async function admitPayer(
  queries: Queries,
  address: Buffer,
  newId?: string,
): Promise<{ accountId: string; isNewAccount: boolean }> {
  const identity = { kind: 'wallet', address } as const;
  const known = await identityRow(queries, identity);
  if (known) return { accountId: known.account_id, isNewAccount: false };
  const moved = await findMovedName(queries, nameOfIdentity(identity));
  return moved ? { accountId: moved.accountId, isNewAccount: false } : admitIdentity(queries, identity, newId);
}

async function openIdentity({ db }: Queries, identity: Identity, newId?: string): Promise<KnownIdentity | null> {
  const { kind } = identity;
  const person = identity.kind === 'oidc' ? identity : null;
  const address = identity.kind === 'wallet' ? identity.address : null;
  const { rows } = await sql<{ id: string; account_id: string }>`
    with opened as (
      insert into identities (account_id, kind, issuer, subject, address)
      values (coalesce(${newId ?? null}::uuid, gen_random_uuid()), ${kind}, ${person?.issuer ?? null}, ${person?.subject ?? null}, ${address})
      on conflict do nothing returning id, account_id),
    account as (insert into accounts (id, email) select account_id, ${person?.email ?? null}::text from opened),
    balance as (insert into balances (account_id) select account_id from opened)
    select id, account_id from opened`.execute(db);
  const [row] = rows;
  return row ? { identityId: row.id, accountId: row.account_id, isFrozen: false } : null;
}

/** Links an unused identity to an existing account; false if it already belongs to an account. */
export async function linkIdentity({ db }: Queries, accountId: string, identity: Identity): Promise<boolean> {
  const row = await db
    .insertInto('identities')
    .values({
      account_id: accountId,
      kind: identity.kind,
      issuer: identity.kind === 'oidc' ? identity.issuer : null,
      subject: identity.kind === 'oidc' ? identity.subject : null,
      address: identity.kind === 'wallet' ? identity.address : null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Records that the wallet signed with its own private key; from then on no contract signature is accepted for it. */
export async function noteOwnKey({ db }: Queries, address: Buffer): Promise<void> {
  await db
    .updateTable('identities')
    .set({ has_own_key: true })
    .where('kind', '=', 'wallet')
    .where('address', '=', address)
    .where('has_own_key', '=', false)
    .execute();
}

export async function hasOwnKey({ db }: Queries, address: Buffer): Promise<boolean> {
  const row = await db
    .selectFrom('identities')
    .select('id')
    .where('kind', '=', 'wallet')
    .where('address', '=', address)
    .where('has_own_key', '=', true)
    .executeTakeFirst();
  return row !== undefined;
}

/** The first wallet that opened the account or was linked to it. */
export async function findWallet({ db }: Queries, accountId: string): Promise<Buffer | null> {
  const row = await db
    .selectFrom('identities')
    .select('address')
    .where('account_id', '=', accountId)
    .where('kind', '=', 'wallet')
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row?.address ?? null;
}

/** All identities that prove ownership of this account, oldest first. */
export async function listIdentities({ db }: Queries, accountId: string): Promise<Identity[]> {
  const rows = await db
    .selectFrom('identities')
    .select(['kind', 'issuer', 'subject', 'address'])
    .where('account_id', '=', accountId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(({ kind, issuer, subject, address }) =>
    kind === 'wallet' ? { kind, address: address! } : { kind, issuer: issuer!, subject: subject! },
  );
}
