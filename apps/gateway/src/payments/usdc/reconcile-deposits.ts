import { closeDeposit, creditDeposit, noteSettled, type WatchedDeposit, watchedDeposits } from '@eloquentpoll/storage';
import type { PaymentsContext } from '../context.ts';
import type { DepositService } from './deposit-service.ts';
import { isConfirmed } from './settle-deposit.ts';

// Completes deposits left open by a crash, by a facilitator without a clear answer, or because a third party submitted
// the authorization. Credits the signer if the transfer is on the chain; closes it if a final block shows expiry.

const BATCH_SIZE = 50;

export async function reconcileDeposits(
  context: PaymentsContext,
  deposits: DepositService,
  signal: AbortSignal,
): Promise<void> {
  const { chainId } = deposits.settings;
  let failures = 0;
  for (let isMore = true; isMore; ) {
    const batch = await watchedDeposits(context.storage, chainId, BATCH_SIZE);
    for (const watched of batch) {
      if (signal.aborted) return;
      await reconcileDeposit(context, deposits, watched).catch((error: unknown) => {
        failures++;
        context.log.warn({ err: error, deposit_id: watched.id }, 'deposit.reconcile_failed');
      });
    }
    isMore = batch.length === BATCH_SIZE;
  }
  if (failures > 0) throw new Error(`${failures} deposits could not be reconciled`);
}

async function reconcileDeposit(
  { storage, log, money }: PaymentsContext,
  { chain }: DepositService,
  watched: WatchedDeposit,
): Promise<void> {
  const transfer = await chain.findTransfer(watched, watched.fromBlock);
  if (!transfer) {
    if (watched.isOver && (await chain.ranOutUnused(watched, watched.validBefore)))
      await closeDeposit(storage, watched.id, 'payment_expired');
    return;
  }
  if (!isConfirmed(transfer, { authorization: watched })) return noteSettled(storage, watched.id, transfer.txHash);
  // Makes no first key, because there is no request to return it to. The owner gets one by signing in.
  if (await creditDeposit(storage, watched.id, { txHash: transfer.txHash })) {
    money.deposit('credited_later', watched.amountU);
    log.warn({ deposit_id: watched.id }, 'deposit.recovered');
  }
}
