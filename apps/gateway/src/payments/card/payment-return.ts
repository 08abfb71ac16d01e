import { withTimeout } from '@eloquentpoll/ops';
import { claimReturn, recentCheckouts, type StoredCheckout } from '@eloquentpoll/storage';
import type { PaymentsContext } from '../context.ts';
import { syncPayment } from './sync-payment.ts';

/** Maximum time that this adds to the page's loading. */
const TIMEOUT_MS = 4_000;

/**
 * Syncs the account's open payments when the browser returns from the processor, so that the balance is current before
 * the webhook arrives. Resolves to the newest payment; null when there is none.
 */
export async function paymentOnReturn(context: PaymentsContext, accountId: string): Promise<StoredCheckout | null> {
  const { processor, storage, log } = context;
  const recent = await recentCheckouts(storage, accountId);
  const open = recent.filter(({ state }) => state === 'created' || state === 'open');
  if (open.length === 0 || !processor) return recent[0] ?? null;
  const sync = async ({ id, processorId }: StoredCheckout) => {
    if (processorId === null || !(await claimReturn(storage, id))) return;
    await syncPayment(context, processor, { id, processorId }).catch((error: unknown) => {
      log.warn({ checkout_id: id, err: error }, 'checkout.sync_failed');
    });
  };
  await withTimeout(Promise.all(open.map(sync)), TIMEOUT_MS).catch(() => {});
  const [newest] = await recentCheckouts(storage, accountId);
  return newest ?? null;
}
