import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

// A card payment is credited at once and can be disputed for months. Until a new card has settled, no poll can use a
// part of what it paid: the balance shows that part, but holds do not take it.

export interface HoldBackRules {
  /** How long a payment takes to settle; 0 holds nothing back. */
  days: number;
  /** This share of unsettled payments is held back ... */
  share: number;
  /** ... but this much of it can always be spent. */
  freeU: bigint;
}

/**
 * Holds back part of a payment, in the transaction that credits it. Nothing is held back for an account with settled
 * card payments of which none was reversed.
 */
export async function holdBack(
  { db }: Queries,
  checkout: { id: string; accountId: string; amountCents: number },
  { days, share, freeU }: HoldBackRules,
): Promise<void> {
  if (days === 0) return;
  await db
    .updateTable('checkouts')
    .set({ settles_at: sql<Date>`now() + ${days} * interval '1 day'` })
    .where('id', '=', checkout.id)
    .execute();
  const { rows } = await sql<{ is_known: boolean; unsettled_u: bigint; held_back_u: bigint }>`
    select count(*) filter (where settles_at <= now()) > 0 and coalesce(max(reversed_cents), 0) = 0 as is_known,
           coalesce(sum(amount_cents - reversed_cents) filter (where settles_at > now()), 0)::bigint * 10000 as unsettled_u,
           coalesce(sum(held_back_u), 0)::bigint as held_back_u
      from checkouts where account_id = ${checkout.accountId} and state in ('credited', 'moved')`.execute(db);
  const { is_known, unsettled_u, held_back_u } = rows[0]!;
  if (is_known) return;
  const byShare = BigInt(Math.floor(Number(unsettled_u) * share));
  const target = smaller(byShare, unsettled_u > freeU ? unsettled_u - freeU : 0n);
  const part = smaller(target - held_back_u, BigInt(checkout.amountCents) * 10_000n);
  if (part > 0n) await setHeldBack({ db }, checkout, part);
}

/** After a reversal, holds back at most what is left of the payment. */
export async function shrinkHeldBack(
  { db }: Queries,
  checkout: { id: string; accountId: string },
  leftCents: number,
): Promise<void> {
  const { held_back_u: heldBackU } = await db
    .selectFrom('checkouts')
    .select('held_back_u')
    .where('id', '=', checkout.id)
    .executeTakeFirstOrThrow();
  const left = smaller(heldBackU, BigInt(leftCents) * 10_000n);
  if (left !== heldBackU) await setHeldBack({ db }, checkout, left, heldBackU);
}

async function setHeldBack(
  { db }: Queries,
  { id, accountId }: { id: string; accountId: string },
  amountU: bigint,
  beforeU = 0n,
): Promise<void> {
  await db.updateTable('checkouts').set({ held_back_u: amountU }).where('id', '=', id).execute();
  await db
    .updateTable('balances')
    .set({ held_back_u: sql<bigint>`held_back_u + ${amountU - beforeU}::bigint` })
    .where('account_id', '=', accountId)
    .execute();
}

/** Releases payments that have settled; returns how many. Any process may call it at any time. */
export async function releaseHeldBack({ db }: Queries, limit = 500): Promise<number> {
  const { rows } = await sql<{ released: number }>`
    with due as (
      select id, account_id, held_back_u from checkouts
       where held_back_u > 0 and settles_at <= now() order by id limit ${limit} for update skip locked),
    freed as (update checkouts c set held_back_u = 0 from due where c.id = due.id),
    sums as (select account_id, sum(held_back_u)::bigint as amount_u from due group by account_id),
    -- Locks in the same order as polls of several accounts that end together.
    locked as (
      select account_id from balances where account_id in (select account_id from sums)
       order by account_id for no key update),
    released as (
      update balances b set held_back_u = b.held_back_u - s.amount_u
        from sums s join locked using (account_id) where b.account_id = s.account_id)
    select count(*)::integer as released from due`.execute(db);
  return rows[0]!.released;
}

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);
