import { findCheckout, noteProcessorEvent, unseenProcessorEvents } from '@eloquentpoll/storage';
import type { PaymentsContext } from '../context.ts';
import type { PaymentEvent, PaymentName, Processor } from './processor.ts';
import { syncPayment } from './sync-payment.ts';

/** Syncs the payment of an event, then records the event: one that fails is handled again. */
export async function handleEvent(context: PaymentsContext, processor: Processor, event: PaymentEvent): Promise<void> {
  const { storage, log, config } = context;
  if (event.livemode !== config.checkout?.livemode) return log.warn('webhook.livemode_mismatched');
  if (event.subject === null || !(await unseenProcessorEvents(storage, [event.id])).has(event.id)) return;
  const { subject } = event;
  const name = 'id' in subject ? subject : await findPayment(context, processor, subject.paymentIntent);
  if (name) await syncPayment(context, processor, name);
  await noteProcessorEvent(storage, event);
}

async function findPayment(
  { storage }: PaymentsContext,
  processor: Processor,
  paymentIntent: string,
): Promise<PaymentName | null> {
  const known = await findCheckout(storage, { paymentIntent });
  if (known?.processorId) return { id: known.id, processorId: known.processorId };
  return processor.find(paymentIntent);
}
