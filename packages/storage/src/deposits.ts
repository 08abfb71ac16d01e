import { sql } from 'kysely';
import { insertKey } from './api-keys.ts';
import { admitPayer, noteOwnKey } from './identities.ts';
import { creditAccount } from './ledger.ts';
import type { Queries, Storage } from './open-storage.ts';
import { inTransaction } from './transaction.ts';

// On-chain payments. A row is one signed authorization, keyed by its parsed bytes and written before any money moves.
// It is credited once and watched until the authorization can move no more money, so a crash loses no payment.

/** A signed authorization as the chain knows it. */
export interface Authorization {
  chainId: number;
  asset: Buffer;
  payer: Buffer;
  nonce: Buffer;
  payTo: Buffer;
  amountU: bigint;
}

/** Identifies an authorization uniquely. */
export type AuthorizationName = Pick<Authorization, 'chainId' | 'asset' | 'payer' | 'nonce'>;

export interface OfferedDeposit extends Authorization {
  validAfter: bigint;
  validBefore: bigint;
  /** The payment proof as it was forwarded, for investigations. */
  proof: Record<string, unknown>;
  /** The newest block when the proof arrived. */
  fromBlock: bigint;
  /** Hash of the secret that the caller sent along, if any. */
  secretHash: Buffer | null;
  /**
   * The chain shows that the authorization was used, so anyone may know the proof. Its validity period is not checked.
   */
  isPublic: boolean;
}

export type Reservation =
  /**
   * `isPayer`: only the signer can have known the proof, or the caller sent the secret of the first submission.
   * `mayHaveMoved`: the chain shows a transfer, or an earlier attempt ended without a known outcome.
   */
  | { kind: 'reserved'; id: string; isPayer: boolean; mayHaveMoved: boolean }
  /** Another request is settling it at this moment. */
  | { kind: 'in_progress'; retryAfterS: number }
  /** It was credited, was tried too often, or belongs to another payment. */
  | { kind: 'used' }
  /** Not valid yet, too close to its expiry, or valid for too long. */
  | { kind: 'expired' };

/** Why an authorization is not free: as in `Reservation`, or it was sent to be settled and its outcome is not known. */
export type DepositStanding =
  | Extract<Reservation, { kind: 'in_progress' | 'used' }>
  | { kind: 'unknown_outcome'; retryAfterS: number };

export interface WatchedDeposit extends Authorization {
  id: string;
  fromBlock: bigint;
  validBefore: Date;
  /** The authorization has expired by the database's clock; only the chain shows whether it was used. */
  isOver: boolean;
}

/** Settling and confirming take much less time. */
const LEASE = '60 seconds';
const MAX_ATTEMPTS = 5;
/** Settling needs this much time. An authorization valid beyond MAX_LEFT could move money after watching has ended. */
const MIN_LEFT = '30 seconds';
const MAX_LEFT = '1 hour';
/** The last second since 1970 that a timestamp can hold; anything later is treated as never. */
const LATEST = 253_402_300_799n;

/** Reserves an authorization for settling. If several requests try, in whatever spelling, one gets it. */
export async function reserveDeposit({ db }: Queries, deposit: OfferedDeposit): Promise<Reservation> {
  const validAfter = seconds(deposit.validAfter);
  const validBefore = seconds(deposit.validBefore);
  const { isPublic, secretHash } = deposit;
  const { rows } = await sql<{ id: string; is_payer: boolean; may_have_moved: boolean }>`
    insert into deposits as d (chain_id, asset, payer, nonce, pay_to, amount_u, valid_before, proof, from_block,
                               secret_hash, handed_at, attempts, check_at)
    select ${deposit.chainId}, ${deposit.asset}, ${deposit.payer}, ${deposit.nonce}, ${deposit.payTo},
           ${deposit.amountU}, to_timestamp(${validBefore}), ${JSON.stringify(deposit.proof)}::jsonb,
           ${deposit.fromBlock}, ${isPublic ? null : secretHash},
           case when ${isPublic} then now() end, 1, now() + ${LEASE}::interval
     where ${isPublic}
        or to_timestamp(${validAfter}) <= now()
       and to_timestamp(${validBefore}) between now() + ${MIN_LEFT}::interval and now() + ${MAX_LEFT}::interval
    on conflict on constraint deposits_once do update
      set state = 'settling', failure = null, attempts = d.attempts + 1, proof = excluded.proof,
          valid_before = greatest(d.valid_before, excluded.valid_before), closed_at = null,
          handed_at = coalesce(d.handed_at, excluded.handed_at),
          check_at = excluded.check_at, updated_at = now()
      where (d.state = 'failed' or (d.state = 'settling' and d.check_at <= now()))
        and d.amount_u = excluded.amount_u and d.pay_to = excluded.pay_to and d.attempts < ${MAX_ATTEMPTS}
    returning id, (not ${isPublic} and d.handed_at is null)
                  or coalesce(d.secret_hash = ${secretHash}, false) as is_payer,
              ${isPublic} or exists (
                select from deposits b
                 where b.id = d.id and b.state = 'settling' and b.handed_at is not null) as may_have_moved`.execute(db);
  const [row] = rows;
  if (row) return { kind: 'reserved', id: row.id, isPayer: row.is_payer, mayHaveMoved: row.may_have_moved };

  const known = await findStanding({ db }, deposit);
  if (!known) return { kind: 'expired' };
  return known.state === 'settling' || known.state === 'settled'
    ? { kind: 'in_progress', retryAfterS: known.wait_s }
    : { kind: 'used' };
}

/** Why an authorization is not free, by its row alone: credited, being settled, or perhaps on its way to the chain. */
export async function reservedAlready(queries: Queries, authorization: Authorization): Promise<DepositStanding | null> {
  const known = await findStanding(queries, authorization);
  if (known?.state === 'credited') return { kind: 'used' };
  if (known?.state === 'settled' || (known?.state === 'settling' && known.is_leased))
    return { kind: 'in_progress', retryAfterS: known.wait_s };
  return known?.state === 'settling' && known.is_handed ? { kind: 'unknown_outcome', retryAfterS: known.wait_s } : null;
}

/** Whether this authorization was submitted here before, with any outcome. */
export const isKnownDeposit = async (queries: Queries, authorization: AuthorizationName): Promise<boolean> =>
  (await findStanding(queries, authorization)) !== undefined;

const findStanding = ({ db }: Queries, { chainId, asset, payer, nonce }: AuthorizationName) =>
  db
    .selectFrom('deposits')
    .select([
      'state',
      sql<number>`greatest(1, ceil(extract(epoch from check_at - now())))::integer`.as('wait_s'),
      sql<boolean>`check_at > now()`.as('is_leased'),
      sql<boolean>`handed_at is not null`.as('is_handed'),
    ])
    .where('chain_id', '=', BigInt(chainId))
    .where('asset', '=', asset)
    .where('payer', '=', payer)
    .where('nonce', '=', nonce)
    .executeTakeFirst();

const seconds = (time: bigint): number => Number(time < LATEST ? time : LATEST);

/** Records that the proof leaves this service to be settled: from then on it is public. */
export async function noteHanded({ db }: Queries, id: string): Promise<void> {
  await db
    .updateTable('deposits')
    .set({ handed_at: sql<Date>`coalesce(handed_at, now())` })
    .where('id', '=', id)
    .execute();
}

/**
 * No money has moved so far; the payment may be tried again. Watched further only if the proof was sent to be settled.
 */
export async function failDeposit({ db }: Queries, id: string, failure: string): Promise<void> {
  await db
    .updateTable('deposits')
    .set({
      state: 'failed',
      failure,
      check_at: sql<Date>`now()`,
      updated_at: sql<Date>`now()`,
      closed_at: sql<Date | null>`case when handed_at is null then now() end`,
    })
    .where('id', '=', id)
    .where('state', 'in', ['settling', 'settled'])
    .execute();
}

/** It is not known yet whether money moved: make the next check due now. */
export async function leaveDeposit({ db }: Queries, id: string): Promise<void> {
  await db
    .updateTable('deposits')
    .set({ check_at: sql<Date>`now()`, updated_at: sql<Date>`now()` })
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .execute();
}

/** The transfer is on the chain, but not yet confirmed by enough blocks. */
export async function noteSettled({ db }: Queries, id: string, txHash: Buffer): Promise<void> {
  await db
    .updateTable('deposits')
    .set({ state: 'settled', tx_hash: txHash, updated_at: sql<Date>`now()` })
    .where('id', '=', id)
    .where('state', '<>', 'credited')
    .execute();
}

/**
 * Credits what the chain has moved, all or nothing. A wallet without an account gets one, with the given key.
 * null if it was credited before.
 */
export function creditDeposit(
  storage: Storage,
  id: string,
  { txHash, key }: { txHash: Buffer; key?: { accountId?: string; hash: Buffer; prefix: string; label?: string } },
): Promise<{ accountId: string; isNewAccount: boolean } | null> {
  return inTransaction(storage, async (tx) => {
    const row = await tx.db
      .selectFrom('deposits')
      .select(['state', 'payer', 'amount_u'])
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirstOrThrow();
    if (row.state === 'credited') return null;
    const { accountId, isNewAccount } = await payerOf(tx, row.payer, key?.accountId);
    // The authorization was signed with the payer's own key.
    await noteOwnKey(tx, row.payer);
    if (isNewAccount && key) await insertKey(tx, { ...key, accountId });
    await creditAccount(tx, { accountId, amountU: row.amount_u, source: 'chain', idem: `deposit:${id}` });
    await tx.db
      .updateTable('deposits')
      .set({
        state: 'credited',
        tx_hash: txHash,
        account_id: accountId,
        failure: null,
        closed_at: sql<Date>`now()`,
        updated_at: sql<Date>`now()`,
      })
      .where('id', '=', id)
      .execute();
    return { accountId, isNewAccount };
  });
}

/** The payer's account; it cannot be closed before the transaction ends. If it was just closed, a new one is opened. */
async function payerOf(tx: Queries, payer: Buffer, newId?: string) {
  const found = await admitPayer(tx, payer, newId);
  const open = await tx.db
    .selectFrom('accounts')
    .select('id')
    .where('id', '=', found.accountId)
    .where('deleted_at', 'is', null)
    .forKeyShare()
    .executeTakeFirst();
  return open ? found : admitPayer(tx, payer, newId);
}

/**
 * Deposits whose check on the chain is due, those known to be on the chain first; each is given to one process for a
 * while. A deposit that was never sent to be settled, because of a crash, cannot have moved money and is closed.
 */
export async function watchedDeposits({ db }: Queries, chainId: number, limit: number): Promise<WatchedDeposit[]> {
  await sql`
    update deposits set state = 'failed', failure = 'payment_processor_error', closed_at = now(), updated_at = now()
     where closed_at is null and check_at <= now() and handed_at is null and state = 'settling'`.execute(db);
  const { rows } = await sql<DepositRow>`
    update deposits set check_at = now() + ${LEASE}::interval
     where id in (select id from deposits
                   where closed_at is null and check_at <= now() and chain_id = ${chainId}
                   order by state = 'settled' desc, check_at limit ${limit} for update skip locked)
    returning id, chain_id, asset, payer, nonce, pay_to, amount_u, from_block,
              valid_before, valid_before < now() as is_over`.execute(db);
  return rows.map((row) => ({
    id: row.id,
    chainId: Number(row.chain_id),
    asset: row.asset,
    payer: row.payer,
    nonce: row.nonce,
    payTo: row.pay_to,
    amountU: row.amount_u,
    fromBlock: row.from_block,
    validBefore: row.valid_before,
    isOver: row.is_over,
  }));
}

/** The lowest starting block of any deposit to this payee; null without any. Deposits booked by hand have no block. */
export async function firstDepositBlock(
  { db }: Queries,
  { chainId, asset, payTo }: Pick<Authorization, 'chainId' | 'asset' | 'payTo'>,
): Promise<bigint | null> {
  const row = await db
    .selectFrom('deposits')
    .select(({ fn }) => fn.min('from_block').as('block'))
    .where('chain_id', '=', BigInt(chainId))
    .where('asset', '=', asset)
    .where('pay_to', '=', payTo)
    .where('from_block', '>', 0n)
    .executeTakeFirst();
  return row?.block ?? null;
}

interface DepositRow {
  id: string;
  chain_id: bigint;
  asset: Buffer;
  payer: Buffer;
  nonce: Buffer;
  pay_to: Buffer;
  amount_u: bigint;
  from_block: bigint;
  valid_before: Date;
  is_over: boolean;
}

/** The authorization moved no money to us and never will. */
export async function closeDeposit({ db }: Queries, id: string, failure: string): Promise<void> {
  await db
    .updateTable('deposits')
    .set({
      state: 'failed',
      failure: sql`coalesce(failure, ${failure})`,
      closed_at: sql<Date>`now()`,
      updated_at: sql<Date>`now()`,
    })
    .where('id', '=', id)
    .where('state', '<>', 'credited')
    .execute();
}

/** Locks the row, so that two refunds of one deposit see each other. */
export async function findCreditedDeposit(
  { db }: Queries,
  id: string,
): Promise<{ accountId: string; amountU: bigint } | null> {
  const row = await db
    .selectFrom('deposits')
    .select(['account_id', 'amount_u'])
    .where('id', '=', id)
    .where('state', '=', 'credited')
    .forUpdate()
    .executeTakeFirst();
  return row?.account_id ? { accountId: row.account_id, amountU: row.amount_u } : null;
}

/** What is left of a credit after the reversals whose names begin with `name`. */
export async function refundableU({ db }: Queries, name: string, amountU: bigint): Promise<bigint> {
  const row = await db
    .selectFrom('transfers')
    .select(sql<bigint>`coalesce(sum(amount_u), 0)::bigint`.as('refunded'))
    .where('kind', '=', 'reversal')
    .where('idem', '>=', `${name}:`)
    .where('idem', '<', `${name};`)
    .executeTakeFirstOrThrow();
  return amountU - row.refunded;
}
