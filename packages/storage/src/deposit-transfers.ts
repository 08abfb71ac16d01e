import { createHash } from 'node:crypto';
import { type Authorization, creditDeposit } from './deposits.ts';
import { creditAccount } from './ledger.ts';
import { noteMetDeposit } from './lost-deposits.ts';
import { closeMisfit, noteMisfit } from './misfits.ts';
import type { Queries, Storage } from './open-storage.ts';
import { inTransaction } from './transaction.ts';

// Compares transfers to us in final blocks with deposits. If the deposit was left open or given up, the transfer is
// credited to its signer. A transfer without a deposit is a misfit, because the payee may be paid for other things too.

export interface IncomingTransfer extends Omit<Authorization, 'nonce'> {
  /** Nonce of the authorization behind the transfer; null for any other transfer. */
  nonce: Buffer | null;
  txHash: Buffer;
  logIndex: number;
}

export type TransferMatch = 'matched' | 'credited' | 'misfit' | 'known_misfit';

/** Transfers below a cent cost their sender next to nothing and are ignored. */
const DUST_U = 10_000n;

export async function matchTransfer(storage: Storage, transfer: IncomingTransfer): Promise<TransferMatch> {
  const row = await findDeposit(storage, transfer);
  const fits = row?.amount_u === transfer.amountU && row.pay_to.equals(transfer.payTo);
  if (row && fits) {
    const credited = row.state === 'credited' ? null : await creditDeposit(storage, row.id, transfer);
    if (row.final_at === null) await noteMetDeposit(storage, row.id);
    await closeMisfit(storage, misfitOf(transfer), 'matched');
    return credited ? 'credited' : 'matched';
  }
  if (transfer.amountU < DUST_U) return 'matched';
  const reason = row ? 'another_amount' : transfer.nonce ? 'no_deposit' : 'no_authorization';
  const isNew = await noteMisfit(storage, { ...misfitOf(transfer), reason });
  return isNew ? 'misfit' : 'known_misfit';
}

/** Credits a transfer that has no deposit to the account that it was meant for. False if it was credited before. */
export function bookTransfer(storage: Storage, transfer: IncomingTransfer, accountId: string): Promise<boolean> {
  return inTransaction(storage, async (tx) => {
    const row = await tx.db
      .insertInto('deposits')
      .values({
        chain_id: BigInt(transfer.chainId),
        asset: transfer.asset,
        payer: transfer.payer,
        nonce: nonceOf(transfer),
        pay_to: transfer.payTo,
        amount_u: transfer.amountU,
        valid_before: new Date(0),
        state: 'credited',
        proof: JSON.stringify({}),
        tx_hash: transfer.txHash,
        account_id: accountId,
        closed_at: new Date(),
        final_at: new Date(),
      })
      .onConflict((conflict) => conflict.constraint('deposits_once').doNothing())
      .returning('id')
      .executeTakeFirst();
    if (!row) return false;
    const { amountU } = transfer;
    await creditAccount(tx, { accountId, amountU, source: 'chain', idem: `deposit:${row.id}` });
    await closeMisfit(tx, misfitOf(transfer), 'matched');
    return true;
  });
}

const findDeposit = ({ db }: Queries, transfer: IncomingTransfer) =>
  db
    .selectFrom('deposits')
    .select(['id', 'state', 'amount_u', 'pay_to', 'final_at'])
    .where('chain_id', '=', BigInt(transfer.chainId))
    .where('asset', '=', transfer.asset)
    .where('payer', '=', transfer.payer)
    .where('nonce', '=', nonceOf(transfer))
    .executeTakeFirst();

/** A transfer without an authorization is identified by its place on the chain. */
const nonceOf = ({ nonce, txHash, logIndex }: IncomingTransfer): Buffer =>
  nonce ?? createHash('sha256').update(txHash).update(String(logIndex)).digest();

const hex = (bytes: Buffer): string => `0x${bytes.toString('hex')}`;

const misfitOf = (transfer: IncomingTransfer) => ({
  source: 'chain' as const,
  reference: `${hex(transfer.txHash)}:${transfer.logIndex}`,
  amountU: transfer.amountU,
  details: {
    chain_id: String(transfer.chainId),
    asset: hex(transfer.asset),
    payer: hex(transfer.payer),
    pay_to: hex(transfer.payTo),
    tx_hash: hex(transfer.txHash),
    log_index: String(transfer.logIndex),
    ...(transfer.nonce && { nonce: hex(transfer.nonce) }),
  },
});

/** The transfer for which a misfit was stored. */
export function transferOfMisfit(misfit: { amountU: bigint; details: Record<string, string> }): IncomingTransfer {
  const { details, amountU } = misfit;
  const bytes = (name: string): Buffer => Buffer.from((details[name] ?? '').slice(2), 'hex');
  return {
    chainId: Number(details.chain_id),
    asset: bytes('asset'),
    payer: bytes('payer'),
    payTo: bytes('pay_to'),
    amountU,
    nonce: details.nonce === undefined ? null : bytes('nonce'),
    txHash: bytes('tx_hash'),
    logIndex: Number(details.log_index),
  };
}
