import type { CheckoutFacts } from '@eloquentpoll/storage';
import type Stripe from 'stripe';

// The state of a payment as the processor's objects show it. What was taken back is counted by money that moved.

export interface PaymentReport extends CheckoutFacts {
  id: string | null;
  currency: string | null;
  amountCents: number | null;
  /** The base URL of the installation that opened it, and the account there that pays; both are in its metadata. */
  origin: string | null;
  accountId: string | null;
  /** Its page can be paid on. */
  isOpen: boolean;
}

export function chargeOf({ payment_intent }: Stripe.Checkout.Session): Stripe.Charge | null {
  const charge = typeof payment_intent === 'object' ? payment_intent?.latest_charge : null;
  return typeof charge === 'object' ? (charge ?? null) : null;
}

export function paymentReportOf(
  session: Stripe.Checkout.Session,
  refunds: readonly Stripe.Refund[],
  disputes: readonly Stripe.Dispute[],
): PaymentReport {
  const { payment_intent: intent, amount_total: amountCents } = session;
  const reversed = sum(refunds.map(refundedBy)) + sum(disputes.map(withheldBy));
  return {
    processorId: session.id,
    id: session.client_reference_id,
    paymentIntent: typeof intent === 'string' ? intent : (intent?.id ?? null),
    livemode: session.livemode,
    currency: session.currency,
    amountCents,
    origin: session.metadata?.origin ?? null,
    accountId: session.metadata?.account_id ?? null,
    isPaid: session.payment_status === 'paid',
    isExpired: session.status === 'expired',
    isOpen: session.status === 'open',
    reversedCents: Math.min(amountCents ?? 0, reversed),
  };
}

const sum = (amounts: readonly number[]): number => amounts.reduce((all, amount) => all + amount, 0);

/** The money of a refund that failed, days later too, is back. */
const refundedBy = ({ status, amount }: Stripe.Refund): number =>
  status === 'failed' || status === 'canceled' ? 0 : amount;

/** Where a dispute moved no money yet, these are about to; inquiries and won disputes are not. */
const WITHHELD = new Set<Stripe.Dispute['status']>([
  'needs_response',
  'under_review',
  'appeal_needs_response',
  'appeal_under_review',
  'lost',
]);

/** The money decides, not the status: one that was prevented was paid back by the dispute or by a refund. */
function withheldBy({ amount, status, balance_transactions: moves }: Stripe.Dispute): number {
  if (moves.length === 0) return WITHHELD.has(status) ? amount : 0;
  return sum(moves.map((move) => move.amount)) < 0 ? amount : 0;
}
