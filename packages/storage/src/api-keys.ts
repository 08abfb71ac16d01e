import { sql } from 'kysely';
import { isClosedHere } from './cells/moved-names.ts';
import {
  findKeyLimit,
  type KeyLimit,
  type KeyLimitTerms,
  type LimitRow,
  limitColumns,
  setKeyLimit,
  toKeyLimit,
} from './key-limits.ts';
import type { Queries } from './open-storage.ts';

// Keys are stored as a keyed hash and cannot be read back. A revoked key is never found by its hash.

export interface StoredApiKey {
  id: string;
  prefix: string;
  label: string;
  /** The key can only read. */
  isReadOnly: boolean;
  limit: KeyLimit | null;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
  createdAt: Date;
}

export interface ApiKeyToStore {
  accountId: string;
  hash: Buffer;
  prefix: string;
  label?: string;
  /** The key stops working at this time; without it, never. */
  expiresAt?: Date | undefined;
  isReadOnly?: boolean | undefined;
  limit?: KeyLimitTerms | undefined;
  /** The pepper that the hash was made with. */
  pepperId?: number;
}

/** Few enough that a thief cannot hide a key among them, and that revoking all of them is quick. */
export const MAX_ACTIVE_KEYS = 100;

export class TooManyKeys extends Error {
  override name = 'TooManyKeys';
}

const COLUMNS = [
  'id',
  'prefix',
  'label',
  'read_only',
  'last_used_at',
  'expires_at',
  'revoked_at',
  'created_at',
] as const;

const isActive = sql<boolean>`revoked_at is null and (expires_at is null or expires_at > clock_timestamp())`;

/** Call it in a transaction. It locks the account's row, so that keys created concurrently count each other. */
export async function insertKey({ db }: Queries, key: ApiKeyToStore): Promise<StoredApiKey> {
  await db.selectFrom('accounts').select('id').where('id', '=', key.accountId).forUpdate().execute();
  const { active } = await db
    .selectFrom('api_keys')
    .select(sql<number>`count(*)::integer`.as('active'))
    .where('account_id', '=', key.accountId)
    .where(isActive)
    .executeTakeFirstOrThrow();
  if (active >= MAX_ACTIVE_KEYS) throw new TooManyKeys();
  const row = await db
    .insertInto('api_keys')
    .values({
      account_id: key.accountId,
      hash: key.hash,
      prefix: key.prefix,
      label: key.label ?? '',
      expires_at: key.expiresAt ?? null,
      pepper_id: key.pepperId ?? 1,
      read_only: key.isReadOnly ?? false,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  if (key.limit) await setKeyLimit({ db }, { ...key.limit, accountId: key.accountId, keyId: row.id });
  return findKey({ db }, row.id);
}

/** Finds revoked keys too. Call it in a transaction: it locks the account, so that no other request creates the key. */
export async function findOwnKeyByHash({ db }: Queries, accountId: string, hash: Buffer): Promise<StoredApiKey | null> {
  await db.selectFrom('accounts').select('id').where('id', '=', accountId).forUpdate().execute();
  const row = await keysWithLimits({ db })
    .where('api_keys.account_id', '=', accountId)
    .where('api_keys.hash', '=', hash)
    .executeTakeFirst();
  return row ? toKey(row) : null;
}

const findKey = async ({ db }: Queries, keyId: string): Promise<StoredApiKey> =>
  toKey(await keysWithLimits({ db }).where('api_keys.id', '=', keyId).executeTakeFirstOrThrow());

const keysWithLimits = ({ db }: Queries) =>
  db
    .selectFrom('api_keys')
    .leftJoin('key_limits', 'key_limits.key_id', 'api_keys.id')
    .select(COLUMNS.map((column) => `api_keys.${column}` as const))
    .select(limitColumns);

/** Fields that are missing stay unchanged. */
export interface KeyTermsChange {
  label?: string | undefined;
  expiresAt?: Date | null | undefined;
  isReadOnly?: boolean | undefined;
  limit?: Partial<KeyLimitTerms> | undefined;
}

export interface ChangedKey {
  key: StoredApiKey;
  /** For invalidating caches. */
  hash: Buffer;
}

/** A reset period was given for a key without a limit. */
export class NoLimitToReset extends Error {
  override name = 'NoLimitToReset';
}

/** Call it in a transaction, which a `NoLimitToReset` aborts. Null if the account has no such active key. */
export async function changeKey(
  { db }: Queries,
  { accountId, keyId }: { accountId: string; keyId: string },
  { label, expiresAt, isReadOnly, limit }: KeyTermsChange,
): Promise<ChangedKey | null> {
  await db.selectFrom('accounts').select('id').where('id', '=', accountId).forUpdate().execute();
  const row = await db
    .updateTable('api_keys')
    .set({
      label: label ?? sql`label`,
      expires_at: expiresAt === undefined ? sql`expires_at` : expiresAt,
      read_only: isReadOnly ?? sql`read_only`,
    })
    .where('id', '=', keyId)
    .where('account_id', '=', accountId)
    .where(isActive)
    .returning('hash')
    .executeTakeFirst();
  if (!row) return null;
  if (limit) {
    const before = await findKeyLimit({ db }, keyId);
    if (limit.limitU === undefined && !before) throw new NoLimitToReset();
    await setKeyLimit({ db }, { limitU: null, reset: 'never', ...before, ...limit, accountId, keyId });
  }
  return { key: await findKey({ db }, keyId), hash: row.hash };
}

export interface KeyOwnerRow {
  keyId: string;
  accountId: string;
  /** Seconds until the key expires; null if it never does. */
  secondsLeft: number | null;
  /** An operator froze the account. */
  isFrozen: boolean;
  isReadOnly: boolean;
  /** The key has a limit, expires or is read-only, so it cannot manage keys. */
  isRestricted: boolean;
  /** The account is about to move to another cell, so the key must not be cached. */
  isMoving: boolean;
}

const isLeaving = sql<boolean>`exists (
  select from account_moves m
   where m.account_id = accounts.id and m.direction = 'out' and m.state in ('copying', 'frozen', 'left'))`;

/**
 * Owner of a presented key; null if unknown, revoked or expired. Throws `AccountMoving` if the account is moving here.
 */
export async function findKeyByHash({ db }: Queries, hash: Buffer): Promise<KeyOwnerRow | null> {
  const row = await db
    .selectFrom('api_keys')
    .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
    .leftJoin('key_limits', 'key_limits.key_id', 'api_keys.id')
    .select([
      'api_keys.id',
      'api_keys.account_id',
      'read_only',
      sql<boolean>`read_only or expires_at is not null or limit_u is not null`.as('is_restricted'),
      sql<boolean>`frozen_at is not null`.as('is_frozen'),
      isLeaving.as('is_moving'),
      'deleted_at',
      'moved_to',
      sql<number | null>`extract(epoch from expires_at - clock_timestamp())::float8`.as('seconds_left'),
    ])
    .where('hash', '=', hash)
    .where(isActive)
    .executeTakeFirst();
  if (!row || isClosedHere(row)) return null;
  return {
    keyId: row.id,
    accountId: row.account_id,
    secondsLeft: row.seconds_left,
    isFrozen: row.is_frozen,
    isReadOnly: row.read_only,
    isRestricted: row.is_restricted,
    isMoving: row.is_moving,
  };
}

export const MAX_KEYS_PER_PAGE = 1_000;

export interface KeyPage {
  /** The last key of the previous page. */
  after?: string | undefined;
  limit: number;
}

export async function ownsKey({ db }: Queries, accountId: string, keyId: string): Promise<boolean> {
  const query = db.selectFrom('api_keys').select('id').where('account_id', '=', accountId).where('id', '=', keyId);
  return (await query.executeTakeFirst()) !== undefined;
}

/** Active keys first, then expired and revoked ones, each newest first. */
export async function listKeys(
  { db }: Queries,
  accountId: string,
  { after, limit }: KeyPage = { limit: MAX_KEYS_PER_PAGE },
): Promise<StoredApiKey[]> {
  const position = sql<string>`not (${isActive}), -extract(epoch from created_at), id`;
  let query = keysWithLimits({ db }).where('api_keys.account_id', '=', accountId);
  if (after !== undefined) {
    query = query.where(sql<boolean>`(${position}) > (select ${position} from api_keys where id = ${after})`);
  }
  return (await query.orderBy(position).limit(limit).execute()).map(toKey);
}

/** False if the key is missing, another account's or already revoked. */
export async function revokeKey({ db }: Queries, accountId: string, keyId: string): Promise<boolean> {
  const row = await db
    .updateTable('api_keys')
    .set({ revoked_at: sql<Date>`now()` })
    .where('id', '=', keyId)
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** No gateway caches a key for longer, whenever its revocation began. */
const LATELY = sql`interval '30 seconds'`;

/** Hashes of the account's keys that were revoked or expired moments ago, for invalidating caches. */
export async function keysEndedLately({ db }: Queries, accountId: string): Promise<Buffer[]> {
  const rows = await db
    .selectFrom('api_keys')
    .select('hash')
    .where('account_id', '=', accountId)
    .where(
      sql<boolean>`coalesce(least(revoked_at, expires_at), 'infinity') between clock_timestamp() - ${LATELY} and clock_timestamp()`,
    )
    .execute();
  return rows.map(({ hash }) => hash);
}

/**
 * Revokes every active key of an account and returns their ids. Call it in a transaction: until it ends no other
 * transaction can add a key to the account, so a key inserted next is the only active one.
 */
export async function revokeAllKeys({ db }: Queries, accountId: string): Promise<string[]> {
  await db.selectFrom('accounts').select('id').where('id', '=', accountId).forUpdate().execute();
  // Not now(), the time when the transaction began: it may have waited for a key that was created after that.
  const { rows } = await sql<{ id: string }>`
    update api_keys set revoked_at = clock_timestamp()
     where id in (select id from api_keys where account_id = ${accountId} and revoked_at is null
                   order by id for update)
    returning id`.execute(db);
  return rows.map(({ id }) => id);
}

/** Records when keys were last used. Called from time to time for many keys at once, never while a request waits. */
export async function touchKeys({ db }: Queries, keyIds: readonly string[]): Promise<void> {
  await sql`
    update api_keys set last_used_at = now()
     where id in (select id from api_keys where id = any(${[...keyIds]}::uuid[]) order by id for update)`.execute(db);
}

interface Row extends LimitRow {
  id: string;
  prefix: string;
  label: string;
  read_only: boolean;
  last_used_at: Date | null;
  expires_at: Date | null;
  revoked_at: Date | null;
  created_at: Date;
}

function toKey(row: Row): StoredApiKey {
  return {
    id: row.id,
    prefix: row.prefix,
    label: row.label,
    isReadOnly: row.read_only,
    limit: toKeyLimit(row),
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    createdAt: row.created_at,
  };
}
