import { dueCheckouts, releaseHeldBack, unseenProcessorEvents } from '@eloquentpoll/storage';
import type { PaymentsContext } from '../context.ts';
import { handleEvent } from './handle-event.ts';
import type { PaymentEvent, Processor } from './processor.ts';
import { syncPayment } from './sync-payment.ts';

// Repairs lost webhooks: syncs payments that are still open and handles missed refund and dispute events. A payment that
// fails is retried in the next round and does not hold up the others.

const MAX_PAYMENTS = 100;
/** The processor retries a webhook for three days. */
const LOOK_BACK_S = 4 * 24 * 3_600;

export async function reconcilePayments(
  context: PaymentsContext,
  processor: Processor,
  signal: AbortSignal,
): Promise<void> {
  for (const { id, processorId } of await dueCheckouts(context.storage, MAX_PAYMENTS)) {
    if (signal.aborted) return;
    if (processorId) await attempt(context, () => syncPayment(context, processor, { id, processorId }));
  }
  await releaseHeldBack(context.storage);
  await attempt(context, async () => {
    for (const event of await missedEvents(context, processor)) {
      if (signal.aborted) return;
      await attempt(context, () => handleEvent(context, processor, event));
    }
  });
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

async function attempt({ log }: PaymentsContext, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.warn({ err: error }, 'checkout.reconcile_failed');
  }
}
