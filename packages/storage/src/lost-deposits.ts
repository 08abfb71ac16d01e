import { sql } from 'kysely';
import type { Authorization } from './deposits.ts';
import { closeMisfit, noteMisfit } from './misfits.ts';
import type { Queries } from './open-storage.ts';

// Deposits are credited before their block is final, so the chain may drop it. A deposit that the comparison of all
// transfers did not find, and that is no longer on the chain, is a misfit: we credited money that was not paid.

const LOST_TRANSFER = 'lost_transfer';

export interface UnmetDeposit extends Authorization {
  id: string;
  accountId: string;
  txHash: Buffer;
  fromBlock: bigint;
}

/**
 * Unconfirmed deposits of this chain, asset and payee, sorted by id, without those on which an operator has decided.
 */
export async function unmetDeposits(
  { db }: Queries,
  { chainId, asset, payTo }: Pick<Authorization, 'chainId' | 'asset' | 'payTo'>,
  { creditedBefore, after, limit }: { creditedBefore: Date; after: string | null; limit: number },
): Promise<UnmetDeposit[]> {
  const { rows } = await sql<UnmetRow>`
    select id, account_id, payer, nonce, amount_u, tx_hash, from_block from deposits d
     where state = 'credited' and final_at is null and closed_at < ${creditedBefore}
       and chain_id = ${chainId} and asset = ${asset} and pay_to = ${payTo}
       and (${after}::uuid is null or id > ${after}::uuid)
       and not exists (select from misfits where source = 'chain' and reference = 'deposit:' || d.id and closed_as = 'ignored')
     order by id limit ${limit}`.execute(db);
  return rows.map((row) => ({
    ...{ chainId, asset, payTo, payer: row.payer, nonce: row.nonce, amountU: row.amount_u },
    ...{ id: row.id, accountId: row.account_id, txHash: row.tx_hash, fromBlock: row.from_block },
  }));
}

interface UnmetRow {
  id: string;
  account_id: string;
  payer: Buffer;
  nonce: Buffer;
  amount_u: bigint;
  tx_hash: Buffer;
  from_block: bigint;
}

/** The deposit's transfer was found in a final block. */
export async function noteMetDeposit({ db }: Queries, id: string): Promise<void> {
  await db
    .updateTable('deposits')
    .set({ final_at: sql<Date>`now()` })
    .where('id', '=', id)
    .where('final_at', 'is', null)
    .execute();
  await closeMisfit({ db }, { source: 'chain', reference: referenceOf(id) }, 'matched');
}

/** True if the misfit was not already open. */
export const noteLostDeposit = (queries: Queries, deposit: UnmetDeposit): Promise<boolean> =>
  noteMisfit(queries, {
    source: 'chain',
    reference: referenceOf(deposit.id),
    reason: LOST_TRANSFER,
    amountU: -deposit.amountU,
    details: {
      deposit_id: deposit.id,
      account_id: deposit.accountId,
      chain_id: String(deposit.chainId),
      payer: hex(deposit.payer),
      pay_to: hex(deposit.payTo),
      nonce: hex(deposit.nonce),
      tx_hash: hex(deposit.txHash),
    },
  });

/** The opposite of all other misfits: no money has moved that could be credited. */
export const isLostDeposit = ({ reason }: { reason: string }): boolean => reason === LOST_TRANSFER;

const referenceOf = (id: string): string => `deposit:${id}`;
const hex = (bytes: Buffer): string => `0x${bytes.toString('hex')}`;
