import { setTimeout as wait } from 'node:timers/promises';
import { type Checkout, recentCheckouts } from '@eloquentpoll/storage';
import type { PaymentsContext } from '../context.ts';
import { followPayment } from './follow-payment.ts';

/** Longer nobody waits for a page. */
const PATIENCE_MS = 4_000;

/**
 * Somebody comes back from paying. Their open payments are followed now, before the processor's event has come, so that
 * the balance is right on landing. Resolves to the newest payment as it then stands; null when there is none.
 */
export async function paymentOnReturn(context: PaymentsContext, accountId: string): Promise<Checkout | null> {
  const { processor, storage, log } = context;
  const known = await recentCheckouts(storage, accountId);
  const open = known.filter(({ state }) => state === 'created' || state === 'open');
  if (open.length === 0 || !processor) return known[0] ?? null;
  const follow = async ({ id, processorId }: Checkout) => {
    if (processorId === null) return;
    await followPayment(context, processor, { id, processorId }).catch((error: unknown) => {
      log.warn({ checkout: id, err: error }, 'card payment not followed on return');
    });
  };
  await Promise.race([Promise.all(open.map(follow)), wait(PATIENCE_MS, undefined, { ref: false })]);
  const [newest] = await recentCheckouts(storage, accountId);
  return newest ?? null;
}
