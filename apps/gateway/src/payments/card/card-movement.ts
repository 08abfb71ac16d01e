import type Stripe from 'stripe';

// A movement of the processor's balance that belongs to a payment.

export interface CardMovement {
  id: string;
  paymentIntent: string;
  /** In the payment's currency: negative for refunds and disputes, positive for payments and returned money. */
  amountCents: number;
  createdAt: Date;
  /** Set for payments that this installation opened, according to their metadata; refunds and disputes have none. */
  isOwnPayment: boolean;
}

/** Null for movements without a payment: payouts, fees, transfers. */
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
    // The balance may be in another currency, so only its sign is used, for the direction.
    amountCents: Math.sign(amount) * source.amount,
    createdAt: new Date(created * 1_000),
    isOwnPayment: source.object === 'charge' && source.metadata.origin === baseUrl,
  };
}
