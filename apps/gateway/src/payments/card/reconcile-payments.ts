import { dueCheckouts, unseenEvents } from '@eloquentpoll/storage';
import type { PaymentsContext } from '../context.ts';
import { followPayment } from './follow-payment.ts';
import type { Happening, Processor } from './processor.ts';
import { takeEvent } from './take-event.ts';

// What no event told: payments that are still open are asked about one by one, refunds and disputes are read from the
// processor's list of events. One that fails waits for the next round and keeps nobody else from its turn.

const MOST_PAYMENTS = 100;
/** The processor itself repeats an event for three days. */
const LOOK_BACK_S = 4 * 24 * 3_600;

export async function reconcilePayments(
  context: PaymentsContext,
  processor: Processor,
  signal: AbortSignal,
): Promise<void> {
  for (const { id, processorId } of await dueCheckouts(context.storage, MOST_PAYMENTS)) {
    if (signal.aborted) return;
    if (processorId) await attempt(context, () => followPayment(context, processor, { id, processorId }));
  }
  await attempt(context, async () => {
    for (const event of await missed(context, processor)) {
      if (signal.aborted) return;
      await attempt(context, () => takeEvent(context, processor, event));
    }
  });
}

/** Oldest first, as they happened. */
async function missed({ storage }: PaymentsContext, processor: Processor): Promise<Happening[]> {
  const sinceS = Math.floor(Date.now() / 1_000) - LOOK_BACK_S;
  const events = await processor.reversals(sinceS);
  const unseen = await unseenEvents(
    storage,
    events.map(({ id }) => id),
  );
  return events.filter(({ id }) => unseen.has(id)).reverse();
}

async function attempt({ log }: PaymentsContext, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.warn({ err: error }, 'a card payment could not be followed');
  }
}
