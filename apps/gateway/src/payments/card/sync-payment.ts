import { findCheckout, followCheckout, recreateCheckout, type StoredCheckout } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PaymentsContext } from '../context.ts';
import type { PaymentReport } from './payment-report.ts';
import type { PaymentName, Processor } from './processor.ts';

// Brings a checkout and its ledger transfers to the state that the processor reports. Idempotent: webhooks, the return
// page and the reconciler may call it in any order, even at the same time.

const MAX_ATTEMPTS = 10;

export async function syncPayment(context: PaymentsContext, processor: Processor, name: PaymentName): Promise<void> {
  const { storage, log, config, money } = context;
  if (!UUID.test(name.id)) return;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    // Read before the processor's report: if another process writes in between, followCheckout answers "outdated".
    const known = await findCheckout(storage, { id: name.id });
    const report = await processor.read(name.processorId);
    if (!known) {
      // One account at the processor may serve several installations.
      if (report.origin !== config.baseUrl || report.id !== name.id) return log.info('checkout.unknown');
      await recreate(context, name.id, report);
      continue;
    }
    const mismatch = mismatchOf(report, known, config.checkout?.livemode);
    if (mismatch) {
      money.checkout('mismatched');
      return log.error({ checkout_id: known.id, mismatch }, 'checkout.mismatched');
    }
    const outcome = await followCheckout(storage, known, report, config.cardHoldBack);
    if (outcome === 'moved') {
      countMove(context, known, report);
      log.info({ checkout_id: known.id }, 'checkout.updated');
    }
    // Otherwise a concurrent update won the compare-and-set: read again.
    if (outcome !== 'outdated') return;
  }
  throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
}

function countMove({ money }: PaymentsContext, known: StoredCheckout, report: PaymentReport): void {
  const isNewlyPaid = known.state !== 'credited' && report.isPaid;
  if (isNewlyPaid) {
    money.checkout('credited');
    money.booked('card', cents(known.amountCents));
  } else if (known.state !== 'credited') {
    money.checkout('expired');
  }
  const more = report.isPaid ? cents(report.reversedCents - known.reversedCents) : 0n;
  if (more !== 0n) money.booked('card', -more);
}

const cents = (amount: number): bigint => BigInt(amount) * 10_000n;

/** Our row of a payment was lost, for example by a restore: raises an alarm, and a 503 if it cannot be recreated. */
async function recreate({ storage, log, money }: PaymentsContext, id: string, report: PaymentReport): Promise<void> {
  const { processorId, accountId, amountCents, livemode } = report;
  const isComplete = accountId !== null && UUID.test(accountId) && amountCents !== null;
  const lost = isComplete && { id, accountId, amountCents, processorId, livemode };
  if (lost && (await recreateCheckout(storage, lost))) {
    money.checkout('recreated');
    return log.error({ checkout_id: id, account_id: accountId, processor_id: processorId }, 'checkout.recreated');
  }
  log.error({ checkout_id: id, processor_id: processorId }, 'checkout.lost');
  throw new ApiError('payment_processor_error', { retryAfterSeconds: 60 });
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function mismatchOf(report: PaymentReport, known: StoredCheckout, livemode: boolean | undefined): string | null {
  // Another cell took and credited this payment, and has a processor account of its own.
  if (known.state === 'moved') return 'cell';
  if (report.id !== known.id) return 'reference';
  if (known.processorId !== null && report.processorId !== known.processorId) return 'session';
  if (report.livemode !== livemode) return 'livemode';
  if (report.currency !== 'usd') return 'currency';
  return report.amountCents === known.amountCents ? null : 'amount';
}
