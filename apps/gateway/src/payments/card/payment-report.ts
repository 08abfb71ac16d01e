import type { CheckoutFacts } from '@eloquentpoll/storage';
import type Stripe from 'stripe';

// The state of a payment according to the processor's objects. Money taken back is counted by actual movements.

export interface PaymentReport extends CheckoutFacts {
  id: string | null;
  currency: string | null;
  amountCents: number | null;
  /** Base URL of the installation that opened the payment, and the paying account there; both from its metadata. */
  origin: string | null;
  accountId: string | null;
  /** The page can still be paid. */
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

/** The money of a failed refund is back, even if the refund fails days later. */
const refundedBy = ({ status, amount }: Stripe.Refund): number =>
  status === 'failed' || status === 'canceled' ? 0 : amount;

/** Statuses in which a dispute without movements will take money; inquiries and won disputes will not. */
const WITHHELD = new Set<Stripe.Dispute['status']>([
  'needs_response',
  'under_review',
  'appeal_needs_response',
  'appeal_under_review',
  'lost',
]);

/** Movements decide, not the status: a prevented dispute was paid back by the dispute or by a refund. */
function withheldBy({ amount, status, balance_transactions: moves }: Stripe.Dispute): number {
  if (moves.length === 0) return WITHHELD.has(status) ? amount : 0;
  return sum(moves.map((move) => move.amount)) < 0 ? amount : 0;
}
