import { closeDeposit, creditDeposit, noteSettled, type WatchedDeposit, watchedDeposits } from '@eloquentpoll/storage';
import type { PaymentsContext } from '../context.ts';
import type { Desk } from './deposit-service.ts';
import { isDeep } from './settle-deposit.ts';

// Deposits that were left in the middle: by a process that died, a facilitator that did not answer or said no too early,
// or somebody who used the authorization in our place. Money that reached us is credited to who signed for it; an
// authorization that can move none any more is closed. A wallet that gets its account here gets no key: nobody is there
// to be shown one, and its owner can have one by signing in.

const AT_ONCE = 50;

export async function reconcileDeposits(context: PaymentsContext, desk: Desk, signal: AbortSignal): Promise<void> {
  for (const watched of await watchedDeposits(context.storage, desk.settings.chainId, AT_ONCE)) {
    if (signal.aborted) return;
    try {
      await follow(context, desk, watched);
    } catch (error) {
      context.log.warn({ err: error, deposit: watched.id }, 'a deposit could not be followed');
    }
  }
}

async function follow({ storage, log }: PaymentsContext, { chain }: Desk, watched: WatchedDeposit): Promise<void> {
  const payout = await chain.payout(watched, watched.fromBlock);
  if (!payout) {
    // What is not used by now never will be: its time is over.
    if (watched.isOver) await closeDeposit(storage, watched.id, 'payment_expired');
    return;
  }
  if (!isDeep(payout, { authorization: watched })) return noteSettled(storage, watched.id, payout.txHash);
  if (await creditDeposit(storage, watched.id, { txHash: payout.txHash })) {
    log.warn({ deposit: watched.id }, 'a deposit that was left in the middle is credited');
  }
}
