import { findCheckout, followCheckout } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PaymentsContext } from '../context.ts';
import type { PaymentName, PaymentReport, Processor } from './processor.ts';

// Brings a checkout and its ledger transfers to the state that the processor reports now. Idempotent: webhooks, the
// return page and the reconciler call it in any order, also at once.

const MAX_ATTEMPTS = 10;

export async function syncPayment(context: PaymentsContext, processor: Processor, name: PaymentName): Promise<void> {
  const { storage, log, config } = context;
  if (!UUID.test(name.id)) return;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    // Read before the processor's report: a concurrent write in between makes followCheckout answer "outdated".
    const known = await findCheckout(storage, { id: name.id });
    // One account at the processor may serve several installations.
    if (!known) return log.info('checkout.unknown');
    const report = await processor.read(name.processorId);
    const mismatch = mismatchOf(report, known, config.checkout?.livemode);
    if (mismatch) return log.error({ checkout_id: known.id, mismatch }, 'checkout.mismatched');
    const outcome = await followCheckout(storage, known, report);
    if (outcome === 'moved') log.info({ checkout_id: known.id }, 'checkout.updated');
    // Otherwise a concurrent update won the compare-and-set: read again.
    if (outcome !== 'outdated') return;
  }
  throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface StoredCheckout {
  id: string;
  amountCents: number;
  processorId: string | null;
}

function mismatchOf(report: PaymentReport, known: StoredCheckout, livemode: boolean | undefined): string | null {
  if (report.id !== known.id) return 'reference';
  if (known.processorId !== null && report.processorId !== known.processorId) return 'session';
  if (report.livemode !== livemode) return 'livemode';
  if (report.currency !== 'usd') return 'currency';
  return report.amountCents === known.amountCents ? null : 'amount';
}
