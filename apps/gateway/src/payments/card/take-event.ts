import { findCheckout, noteEvent, unseenEvents } from '@eloquentpoll/storage';
import type { PaymentsContext } from '../context.ts';
import { followPayment } from './follow-payment.ts';
import type { Happening, PaymentName, Processor } from './processor.ts';

/** Follows the payment that an event is about. An event that was dealt with costs a look-up; others are repeatable. */
export async function takeEvent(context: PaymentsContext, processor: Processor, event: Happening): Promise<void> {
  const { storage, log, config } = context;
  if (event.livemode !== config.checkout?.livemode) return log.warn('an event of the other livemode');
  if (event.about === null || !(await unseenEvents(storage, [event.id])).has(event.id)) return;
  const name = 'id' in event.about ? event.about : await payment(context, processor, event.about.paymentIntent);
  if (name) await followPayment(context, processor, name);
  await noteEvent(storage, event);
}

async function payment(
  { storage }: PaymentsContext,
  processor: Processor,
  paymentIntent: string,
): Promise<PaymentName | null> {
  const known = await findCheckout(storage, { paymentIntent });
  if (known?.processorId) return { id: known.id, processorId: known.processorId };
  return processor.find(paymentIntent);
}
