import { closeDeposit, creditDeposit, noteSettled, type WatchedDeposit, watchedDeposits } from '@eloquentpoll/storage';
import type { PaymentsContext } from '../context.ts';
import type { DepositService } from './deposit-service.ts';
import { isConfirmed } from './settle-deposit.ts';

// Completes deposits left open by a crash, a facilitator without a clear answer, or a third party that submitted the
// authorization: credits the signer if the transfer is on the chain, closes the deposit once the authorization expired.

const BATCH_SIZE = 50;

export async function reconcileDeposits(
  context: PaymentsContext,
  deposits: DepositService,
  signal: AbortSignal,
): Promise<void> {
  for (const watched of await watchedDeposits(context.storage, deposits.settings.chainId, BATCH_SIZE)) {
    if (signal.aborted) return;
    try {
      await reconcileDeposit(context, deposits, watched);
    } catch (error) {
      context.log.warn({ err: error, deposit_id: watched.id }, 'deposit.reconcile_failed');
    }
  }
}

async function reconcileDeposit(
  { storage, log }: PaymentsContext,
  { chain }: DepositService,
  watched: WatchedDeposit,
): Promise<void> {
  const transfer = await chain.findTransfer(watched, watched.fromBlock);
  if (!transfer) {
    // Past validBefore, an unused authorization can no longer be used.
    if (watched.isOver) await closeDeposit(storage, watched.id, 'payment_expired');
    return;
  }
  if (!isConfirmed(transfer, { authorization: watched })) return noteSettled(storage, watched.id, transfer.txHash);
  // No first key: there is no request to return it to. The owner gets one by signing in.
  if (await creditDeposit(storage, watched.id, { txHash: transfer.txHash })) {
    log.warn({ deposit_id: watched.id }, 'deposit.recovered');
  }
}
