import type Stripe from 'stripe';

// One movement of the processor's balance that belongs to a payment.

export interface CardMovement {
  id: string;
  paymentIntent: string;
  /** In the currency of the payment: below zero for refunds and disputes, above for payments and what comes back. */
  amountCents: number;
  createdAt: Date;
  /** A payment that this installation opened, by its metadata; refunds and disputes carry none. */
  isOwnPayment: boolean;
}

/** Null for what belongs to no payment: payouts, fees, transfers. */
export function movementOf(
  { id, amount, created, source }: Stripe.BalanceTransaction,
  baseUrl: string,
): CardMovement | null {
  if (typeof source !== 'object' || source === null || !('payment_intent' in source)) return null;
  if (source.object !== 'charge' && source.object !== 'refund' && source.object !== 'dispute') return null;
  const { payment_intent: intent } = source;
  const paymentIntent = typeof intent === 'string' ? intent : intent?.id;
  if (paymentIntent === undefined) return null;
  return {
    id,
    paymentIntent,
    // The balance may be in another currency than the payment; its sign is what the movement did.
    amountCents: Math.sign(amount) * source.amount,
    createdAt: new Date(created * 1_000),
    isOwnPayment: source.object === 'charge' && source.metadata.origin === baseUrl,
  };
}
