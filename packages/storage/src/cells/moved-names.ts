import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { AccountMoving } from '../errors.ts';
import type { Identity } from '../identities.ts';
import type { Queries } from '../open-storage.ts';

// Finds accounts that live in another cell now. Used only for names that were not found here.

export const nameOfKey = (hash: Buffer): string => `key:${hash.toString('hex')}`;
export const nameOfIdentity = (identity: Identity): string =>
  identity.kind === 'wallet'
    ? `wallet:${identity.address.toString('hex')}`
    : `oidc:${createHash('sha256').update(`${identity.issuer}\n${identity.subject}`).digest('hex')}`;

/** The account of this key, login or identity, if it has left for another cell. */
export async function findMovedName(
  { db }: Queries,
  name: string,
): Promise<{ accountId: string; movedTo: string | null } | null> {
  const row = await db
    .selectFrom('moved_names')
    .innerJoin('accounts', 'accounts.id', 'moved_names.account_id')
    .select(['account_id as accountId', 'moved_to as movedTo'])
    .where('name', '=', name)
    .where('moved_to', 'is not', null)
    .executeTakeFirst();
  return row ?? null;
}

/**
 * Throws `AccountMoving` if the account was found but is still moving here: until it arrives, it lives at its source.
 */
export function isClosedHere(account: { deleted_at: Date | null; moved_to: string | null }): boolean {
  if (account.moved_to !== null) throw new AccountMoving(account.moved_to);
  return account.deleted_at !== null;
}

/** Throws `AccountMoving` with the cell where the account of this key, login or identity lives now. */
export async function refuseMovedName(queries: Queries, name: string): Promise<void> {
  const moved = await findMovedName(queries, name);
  if (moved) throw new AccountMoving(moved.movedTo);
}

/** The same for a login, also while its account is moving here. */
export async function refuseMovedLogin(queries: Queries, loginId: string): Promise<void> {
  const row = await queries.db
    .selectFrom('logins')
    .innerJoin('accounts', 'accounts.id', 'logins.account_id')
    .select('moved_to')
    .where('logins.id', '=', loginId)
    .where('moved_to', 'is not', null)
    .executeTakeFirst();
  if (row) throw new AccountMoving(row.moved_to);
  await refuseMovedName(queries, `login:${loginId}`);
}

/** The same for the result with this id. */
export async function refuseMovedResult({ db }: Queries, resultId: string): Promise<void> {
  const row = await db
    .selectFrom('moved_results')
    .innerJoin('accounts', 'accounts.id', 'moved_results.account_id')
    .select('moved_to')
    .where('result_id', '=', resultId)
    .where('moved_to', 'is not', null)
    .executeTakeFirst();
  if (row) throw new AccountMoving(row.moved_to);
}

/** The first day whose seal may contain the receipt of a result that came from another cell. */
export const movedOn = sql<string | null>`(
  select moved_on::text from moved_results where moved_results.poll_id = results.poll_id)`;

export interface MovedPlaces {
  /** Account ids, each with the cell to which it went from here. */
  accounts: { accountId: string; cell: string }[];
  /** Ids of readable results that moved with these accounts. */
  results: { resultId: string; accountId: string }[];
}

/** What a router needs to know about moves out of this cell. */
export async function readMovedPlaces({ db }: Queries): Promise<MovedPlaces> {
  const accounts = await db
    .selectFrom('accounts')
    .select(['id as accountId', sql<string>`moved_to`.as('cell')])
    .where('moved_to', 'is not', null)
    .where(
      sql<boolean>`exists (select from account_moves m where m.account_id = accounts.id and m.direction = 'out' and m.state in ('left', 'arrived'))`,
    )
    .execute();
  const results = await db
    .selectFrom('moved_results')
    .innerJoin('accounts', 'accounts.id', 'moved_results.account_id')
    .select(['result_id as resultId', 'account_id as accountId'])
    .where('moved_to', 'is not', null)
    .execute();
  return { accounts, results };
}
