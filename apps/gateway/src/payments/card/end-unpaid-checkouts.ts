import { unpaidCheckouts } from '@eloquentpoll/storage';
import { paymentUnderWay } from '../../accounts/delete-account.ts';
import type { PaymentsContext } from '../context.ts';
import type { Processor } from './processor.ts';
import { syncPayment } from './sync-payment.ts';

// Before an account is deleted: credits what was paid at the processor, and closes payment pages that were not paid.

/** Throws a 409 while a payment can be neither read nor ended, for example while its bank has yet to confirm it. */
export async function endUnpaidCheckouts(context: PaymentsContext, accountId: string): Promise<void> {
  const { processor, storage } = context;
  const unpaid = await unpaidCheckouts(storage, accountId);
  if (unpaid.length === 0) return;
  if (!processor) throw paymentUnderWay(context);
  const pages = unpaid.flatMap(({ id, processorId }) => (processorId === null ? [] : [{ id, processorId }]));
  await Promise.all(pages.map((page) => endPage(context, processor, page))).catch((error: unknown) => {
    throw paymentUnderWay(context, error);
  });
  if ((await unpaidCheckouts(storage, accountId)).length > 0) throw paymentUnderWay(context);
}

async function endPage(
  context: PaymentsContext,
  processor: Processor,
  name: { id: string; processorId: string },
): Promise<void> {
  const { isPaid, isExpired, isOpen } = await processor.read(name.processorId);
  // Fails for a page that is being paid at this moment; the report that is read next shows that.
  if (!isPaid && !isExpired && isOpen) await processor.endPage(name.processorId).catch(() => undefined);
  await syncPayment(context, processor, name);
}
