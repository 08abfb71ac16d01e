import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

// Keys are stored as a keyed hash and never leave again. A revoked key is never found by its hash.

export interface ApiKey {
  id: string;
  prefix: string;
  label: string;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
  createdAt: Date;
}

export interface NewApiKey {
  accountId: string;
  hash: Buffer;
  prefix: string;
  label?: string;
  /** Which pepper made the hash. */
  pepperId?: number;
}

const columns = ['id', 'prefix', 'label', 'last_used_at', 'revoked_at', 'created_at'] as const;

export async function insertKey({ db }: Queries, key: NewApiKey): Promise<ApiKey> {
  const row = await db
    .insertInto('api_keys')
    .values({
      account_id: key.accountId,
      hash: key.hash,
      prefix: key.prefix,
      label: key.label ?? '',
      pepper_id: key.pepperId ?? 1,
    })
    .returning(columns)
    .executeTakeFirstOrThrow();
  return toKey(row);
}

/** Who a presented key belongs to; null when it is unknown or revoked. */
export async function findKeyByHash(
  { db }: Queries,
  hash: Buffer,
): Promise<{ keyId: string; accountId: string } | null> {
  const row = await db
    .selectFrom('api_keys')
    .select(['id', 'account_id'])
    .where('hash', '=', hash)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return row ? { keyId: row.id, accountId: row.account_id } : null;
}

/** Active and revoked ones, newest first. */
export async function listKeys({ db }: Queries, accountId: string): Promise<ApiKey[]> {
  const rows = await db
    .selectFrom('api_keys')
    .select(columns)
    .where('account_id', '=', accountId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(1_000)
    .execute();
  return rows.map(toKey);
}

/** The hash of the key that was revoked, for whoever caches by it; null when missing, foreign or already revoked. */
export async function revokeKey({ db }: Queries, accountId: string, keyId: string): Promise<Buffer | null> {
  const row = await db
    .updateTable('api_keys')
    .set({ revoked_at: sql<Date>`now()` })
    .where('id', '=', keyId)
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .returning('hash')
    .executeTakeFirst();
  return row?.hash ?? null;
}

/**
 * Revokes every active key of an account and returns their hashes. For a transaction: until its end nobody else adds a
 * key to the account, so what it inserts next is the only active one.
 */
export async function revokeAllKeys({ db }: Queries, accountId: string): Promise<Buffer[]> {
  await db.selectFrom('accounts').select('id').where('id', '=', accountId).forUpdate().execute();
  // Not now(): that is when the transaction began, which may be before a key that it waited for was created.
  const { rows } = await sql<{ hash: Buffer }>`
    update api_keys set revoked_at = clock_timestamp()
     where id in (select id from api_keys where account_id = ${accountId} and revoked_at is null
                   order by id for update)
    returning hash`.execute(db);
  return rows.map(({ hash }) => hash);
}

/** Notes that keys were used. Called now and then for many keys at once, never on the path of a request. */
export async function touchKeys({ db }: Queries, keyIds: readonly string[]): Promise<void> {
  await sql`
    update api_keys set last_used_at = now()
     where id in (select id from api_keys where id = any(${[...keyIds]}::uuid[]) order by id for update)`.execute(db);
}

interface Row {
  id: string;
  prefix: string;
  label: string;
  last_used_at: Date | null;
  revoked_at: Date | null;
  created_at: Date;
}

function toKey(row: Row): ApiKey {
  return {
    id: row.id,
    prefix: row.prefix,
    label: row.label,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
    createdAt: row.created_at,
  };
}
