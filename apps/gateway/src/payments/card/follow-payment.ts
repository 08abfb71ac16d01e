import { findCheckout, followCheckout } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PaymentsContext } from '../context.ts';
import type { PaymentName, PaymentReport, Processor } from './processor.ts';

// The one way in which a card payment changes anything: what the processor says now is written down, with the money that
// follows from it. It may be called for any reason, any number of times, at once, in any order.

/** Each round somebody else was faster, and what they wrote was true. */
const MOST_ROUNDS = 10;

export async function followPayment(context: PaymentsContext, processor: Processor, name: PaymentName): Promise<void> {
  const { storage, log, config } = context;
  if (!UUID.test(name.id)) return;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    // Read before the processor is asked: what is written between the two makes the answer outdated.
    const known = await findCheckout(storage, { id: name.id });
    // An account at the processor may serve several installations.
    if (!known) return log.info('a card payment that is not ours');
    const report = await processor.read(name.processorId);
    const wrong = misfit(report, known, config.checkout?.livemode);
    if (wrong) return log.error({ checkout: known.id, wrong }, 'a card payment that does not fit its checkout');
    const done = await followCheckout(storage, known, report);
    if (done === 'moved') log.info({ checkout: known.id }, 'card payment followed');
    if (done !== 'outdated') return;
  }
  throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface Known {
  id: string;
  amountCents: number;
  processorId: string | null;
}

function misfit(report: PaymentReport, known: Known, livemode: boolean | undefined): string | null {
  if (report.id !== known.id) return 'reference';
  if (known.processorId !== null && report.processorId !== known.processorId) return 'session';
  if (report.livemode !== livemode) return 'livemode';
  if (report.currency !== 'usd') return 'currency';
  return report.amountCents === known.amountCents ? null : 'amount';
}
