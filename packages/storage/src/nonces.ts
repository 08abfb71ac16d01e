import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

// Wallet challenges. A nonce serves one signature: it is consumed only after the signature was found valid, so that
// garbage cannot use it up, and atomically, so that only one of many concurrent uses succeeds.

export interface Nonce {
  nonce: string;
  address: Buffer;
  /** The action that the signature authorizes, if the caller named one. */
  purpose: string | null;
  /** The exact text that was issued for signing. */
  message: string;
}

export interface NewNonce extends Omit<Nonce, 'message'> {
  /** The text to sign; it contains the times of issue and expiry. */
  message(issuedAt: Date, expiresAt: Date): string;
  /** Identifies who asked for the challenge. */
  asker: Buffer;
}

/** Open challenges of one asker for one address; the oldest is evicted. Other askers' challenges are not affected. */
const MAX_OPEN = 5;

/**
 * Returns the message. Its times come from the database, which also checks them: a gateway with a wrong clock does not
 * issue messages that a wallet would refuse as expired.
 */
export async function issueNonce({ db }: Queries, nonce: NewNonce, lifetimeS = 300): Promise<string> {
  const { rows } = await sql<{ issued: Date; expires: Date }>`
    select date_trunc('milliseconds', now()) as issued,
           date_trunc('milliseconds', now()) + ${lifetimeS} * interval '1 second' as expires`.execute(db);
  const { issued, expires } = rows[0]!;
  const message = nonce.message(issued, expires);
  await sql`
    with evicted as (
      delete from nonces where nonce in (
        select nonce from nonces where address = ${nonce.address} and asker = ${nonce.asker} and used_at is null
         order by created_at desc offset ${MAX_OPEN - 1}))
    insert into nonces (nonce, address, asker, purpose, message, expires_at)
    values (${nonce.nonce}, ${nonce.address}, ${nonce.asker}, ${nonce.purpose}, ${message}, ${expires})`.execute(db);
  return message;
}

/** null if unknown, used or expired. */
export async function findNonce({ db }: Queries, nonce: string): Promise<Nonce | null> {
  const row = await db
    .selectFrom('nonces')
    .select(['nonce', 'address', 'purpose', 'message'])
    .where('nonce', '=', nonce)
    .where('used_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst();
  return row ?? null;
}

/** true for exactly one caller. */
export async function consumeNonce({ db }: Queries, nonce: string, address: Buffer): Promise<boolean> {
  const row = await db
    .updateTable('nonces')
    .set({ used_at: sql<Date>`now()` })
    .where('nonce', '=', nonce)
    .where('address', '=', address)
    .where('used_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning('nonce')
    .executeTakeFirst();
  return row !== undefined;
}
