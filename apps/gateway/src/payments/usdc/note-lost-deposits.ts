import { noteLostDeposit, noteMetDeposit, unmetDeposits } from '@eloquentpoll/storage';
import type { PaymentsContext } from '../context.ts';
import type { DepositService } from './deposit-service.ts';
import type { FinalBlock } from './token-node.ts';

// The reverse of the scan: finds credited deposits that it has not met although their blocks are final. The chain is
// asked about each, because an older release, or a scan that started later, does not mark deposits as met.

/** Allows for different clocks of the chain and Postgres, and for a dropped transaction to be included again. */
const MARGIN_MS = 600_000;
const BATCH_SIZE = 100;

export async function noteLostDeposits(
  { storage, log }: PaymentsContext,
  { settings, chain }: DepositService,
  { end, signal }: { end: FinalBlock; signal: AbortSignal },
): Promise<void> {
  const payee = { chainId: settings.chainId, asset: bytes(settings.asset), payTo: bytes(settings.payTo) };
  const creditedBefore = new Date(end.at.getTime() - MARGIN_MS);
  let after: string | null = null;
  for (let isMore = true; isMore; ) {
    const batch = await unmetDeposits(storage, payee, { creditedBefore, after, limit: BATCH_SIZE });
    for (const deposit of batch) {
      if (signal.aborted) return;
      after = deposit.id;
      const found = await chain.findTransfer(deposit, deposit.fromBlock, deposit.txHash);
      if (found && found.block <= end.number) await noteMetDeposit(storage, deposit.id);
      if (!found && (await noteLostDeposit(storage, deposit)))
        log.error({ deposit_id: deposit.id, amount_u: String(deposit.amountU) }, 'deposit.transfer_lost');
    }
    isMore = batch.length === BATCH_SIZE;
  }
}

const bytes = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');
