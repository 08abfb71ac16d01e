import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

/** What an operator sees of an account: its money and state, but neither its questions nor its owner's identity. */
export interface AccountRecord {
  accountId: string;
  createdAt: Date;
  frozenAt: Date | null;
  closedAt: Date | null;
  postedU: bigint;
  heldU: bigint;
  reservedU: bigint;
  heldBackU: bigint;
  usedU: bigint;
  activeKeys: number;
  /** Newest first, like the deposits. */
  checkouts: { id: string; state: string; amountCents: number; reversedCents: number; createdAt: string }[];
  deposits: { id: string; state: string; amountU: number; txHash: string | null; createdAt: string }[];
}

const MAX_PAYMENTS = 50;

export async function readAccountRecord({ db }: Queries, accountId: string): Promise<AccountRecord | null> {
  const { rows } = await sql<AccountRecord>`
    select a.id as "accountId", a.created_at as "createdAt", a.frozen_at as "frozenAt", a.deleted_at as "closedAt",
           b.posted_u as "postedU", b.held_u as "heldU", b.reserved_u as "reservedU", b.held_back_u as "heldBackU", b.used_u as "usedU",
           (select count(*)::integer from api_keys k where k.account_id = a.id and k.revoked_at is null) as "activeKeys",
           (select coalesce(json_agg(c), '[]') from (
              select id, state, amount_cents as "amountCents", reversed_cents as "reversedCents", created_at as "createdAt"
                from checkouts where account_id = a.id order by created_at desc limit ${MAX_PAYMENTS}) c) as checkouts,
           (select coalesce(json_agg(d), '[]') from (
              select id, state, amount_u as "amountU", '0x' || encode(tx_hash, 'hex') as "txHash",
                     created_at as "createdAt"
                from deposits where account_id = a.id order by created_at desc limit ${MAX_PAYMENTS}) d) as deposits
      from accounts a join balances b on b.account_id = a.id
     where a.id = ${accountId} and a.kind = 'user'`.execute(db);
  return rows[0] ?? null;
}
