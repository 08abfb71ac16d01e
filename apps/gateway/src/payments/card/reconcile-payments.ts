import { dueCheckouts, releaseHeldBack, unseenProcessorEvents } from '@eloquentpoll/storage';
import type { PaymentsContext } from '../context.ts';
import { handleEvent } from './handle-event.ts';
import type { PaymentEvent, Processor } from './processor.ts';
import { syncPayment } from './sync-payment.ts';

// Makes up for lost webhooks: syncs open payments and handles missed refund and dispute events. A payment that fails
// does not block the others and is retried in the next round; the round as a whole then counts as failed.

const MAX_PAYMENTS = 100;
/** The processor retries a webhook for three days. */
const LOOK_BACK_S = 4 * 24 * 3_600;

export async function reconcilePayments(
  context: PaymentsContext,
  processor: Processor,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  const attempt = async (work: () => Promise<void>) => {
    await work().catch((error: unknown) => {
      failures++;
      context.log.warn({ err: error }, 'checkout.reconcile_failed');
    });
  };
  for (const { id, processorId } of await dueCheckouts(context.storage, MAX_PAYMENTS)) {
    if (signal.aborted) return;
    if (processorId) await attempt(() => syncPayment(context, processor, { id, processorId }));
  }
  await releaseHeldBack(context.storage);
  await attempt(async () => {
    for (const event of await missedEvents(context, processor)) {
      if (signal.aborted) return;
      await attempt(() => handleEvent(context, processor, event));
    }
  });
  if (failures > 0) throw new Error(`${failures} payments or lists of events could not be reconciled`);
}

/** Oldest first. */
async function missedEvents({ storage }: PaymentsContext, processor: Processor): Promise<PaymentEvent[]> {
  const sinceS = Math.floor(Date.now() / 1_000) - LOOK_BACK_S;
  const events = await processor.reversals(sinceS);
  const unseen = await unseenProcessorEvents(
    storage,
    events.map(({ id }) => id),
  );
  return events.filter(({ id }) => unseen.has(id)).reverse();
}
