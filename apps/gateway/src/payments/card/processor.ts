import type Stripe from 'stripe';
import type { CheckoutSettings } from '../../config/payment-settings.ts';
import { ApiError } from '../../http/api-error.ts';
import { madeOnce } from '../../http/made-once.ts';
import { type CardMovement, movementOf } from './card-movement.ts';
import { chargeOf, type PaymentReport, paymentReportOf } from './payment-report.ts';

// The part of Stripe that we use. Events only trigger a read: facts come from the API. Every failure becomes a
// payment_processor_error; Stripe's messages are not passed on.

const API_VERSION = '2026-10-28.endive';
const TIMEOUT_MS = 10_000;
const SIGNATURE_TOLERANCE_S = 300;

export interface Processor {
  /** Creates a payment page. Idempotent by id. */
  openPage(payment: {
    id: string;
    accountId: string;
    amountCents: number;
  }): Promise<{ processorId: string; url: string }>;
  /** The current state of a payment. */
  read(processorId: string): Promise<PaymentReport>;
  /** Closes a payment page. Fails if it was paid or has expired. */
  endPage(processorId: string): Promise<void>;
  /** The payment to which a charge, refund or dispute belongs; null if it is not one of ours. */
  find(paymentIntent: string): Promise<PaymentName | null>;
  /** Verifies an event's signature and parses it; 400 if it is invalid. */
  verifyEvent(body: Buffer, signature: string | undefined): Promise<PaymentEvent>;
  /** Refund and dispute events since this time, newest first, at most 10,000. */
  reversals(sinceS: number): Promise<PaymentEvent[]>;
  /**
   * Movements of payments, refunds and disputes in this period, oldest first, without its end. Null when there are too
   * many to read at once: ask for a shorter period.
   */
  movements(fromS: number, beforeS: number): Promise<CardMovement[] | null>;
  /** Refunds money. Idempotent by id. */
  refund(refund: { id: string; paymentIntent: string; amountCents: number }): Promise<void>;
}

export interface PaymentName {
  processorId: string;
  /** Our id for the checkout. */
  id: string;
}

export interface PaymentEvent {
  id: string;
  type: string;
  livemode: boolean;
  /** A checkout, or the payment intent of a charge, refund or dispute; null for other objects. */
  subject: PaymentName | { paymentIntent: string } | null;
}

export function stripeProcessor(settings: CheckoutSettings, baseUrl: string, timeoutMs = TIMEOUT_MS): Processor {
  const stripe = madeOnce(() => connect(settings, timeoutMs));

  async function call<T>(request: (stripe: Stripe) => Promise<T>): Promise<T> {
    try {
      return await request(await stripe());
    } catch (error) {
      throw new ApiError('payment_processor_error', { retryAfterSeconds: 5, cause: withoutMessage(error) });
    }
  }

  return {
    openPage: (payment) =>
      call(async ({ checkout }) => {
        const session = await checkout.sessions.create(pageOf(payment, baseUrl), { idempotencyKey: payment.id });
        if (!session.url) throw new Error('the checkout session has no url');
        return { processorId: session.id, url: session.url };
      }),
    read: (processorId) =>
      call(async ({ checkout, disputes, refunds }) => {
        const session = await checkout.sessions.retrieve(processorId, { expand: ['payment_intent.latest_charge'] });
        const charge = chargeOf(session);
        const of = { charge: charge?.id ?? '', limit: 100 };
        const refunded = charge && charge.amount_refunded > 0 ? await refunds.list(of) : null;
        const disputed = charge?.disputed ? await disputes.list(of) : null;
        return paymentReportOf(session, refunded?.data ?? [], disputed?.data ?? []);
      }),
    async endPage(processorId) {
      await call(({ checkout }) => checkout.sessions.expire(processorId));
    },
    find: (paymentIntent) =>
      call(async ({ checkout }) => {
        const { data } = await checkout.sessions.list({ payment_intent: paymentIntent, limit: 1 });
        return data[0] ? nameOf(data[0]) : null;
      }),
    async verifyEvent(body, signature) {
      const { webhooks } = await stripe();
      for (const secret of settings.webhookSecrets) {
        try {
          return toPaymentEvent(webhooks.constructEvent(body, signature ?? '', secret, SIGNATURE_TOLERANCE_S));
        } catch {
          // Try the next secret: two are configured during rotation.
        }
      }
      throw new ApiError('invalid_webhook');
    },
    async reversals(sinceS) {
      const query = { types: [...REVERSALS], created: { gte: sinceS } };
      const { found } = await allPages((page) => call(({ events }) => events.list({ ...query, ...page })));
      return found.map(toPaymentEvent);
    },
    async movements(fromS, beforeS) {
      const query = { created: { gte: fromS, lt: beforeS }, expand: ['data.source'] };
      const { found, isAll } = await allPages((page) =>
        call(({ balanceTransactions }) => balanceTransactions.list({ ...query, ...page })),
      );
      return isAll ? found.flatMap((one) => movementOf(one, baseUrl) ?? []).reverse() : null;
    },
    async refund({ id, paymentIntent, amountCents }) {
      const refund = { payment_intent: paymentIntent, amount: amountCents };
      await call(({ refunds }) => refunds.create(refund, { idempotencyKey: id }));
    },
  };
}

interface Page<T> {
  data: T[];
  has_more: boolean;
}

async function allPages<T extends { id: string }>(
  read: (page: { limit: number; starting_after?: string }) => Promise<Page<T>>,
): Promise<{ found: T[]; isAll: boolean }> {
  const found: T[] = [];
  for (let page = 0; page < MAX_PAGES; page++) {
    const last = found.at(-1);
    const { data, has_more } = await read({ limit: 100, ...(last && { starting_after: last.id }) });
    found.push(...data);
    if (!has_more || data.length === 0) return { found, isAll: true };
  }
  return { found, isAll: false };
}

const MAX_PAGES = 100;
/** Events after which less of a payment belongs to us, or more again. */
const REVERSALS = [
  'charge.refunded',
  'charge.refund.updated',
  'refund.updated',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
] as const satisfies Stripe.Event['type'][];
async function connect({ secretKey, apiBase }: CheckoutSettings, timeout: number): Promise<Stripe> {
  const { default: Client } = await import('stripe');
  const address = apiBase === undefined ? null : new URL(apiBase);
  return new Client(secretKey, {
    apiVersion: API_VERSION,
    timeout,
    maxNetworkRetries: 1,
    telemetry: false,
    ...(address && {
      protocol: address.protocol === 'http:' ? 'http' : 'https',
      host: address.hostname,
      port: address.port || (address.protocol === 'http:' ? '80' : '443'),
    }),
  });
}

/** Stored at the processor, so that the owner of a payment can be found even if our row is lost. */
const metadataOf = ({ id, accountId, amountCents }: NewPayment, baseUrl: string) => ({
  checkout_id: id,
  account_id: accountId,
  amount_cents: String(amountCents),
  origin: baseUrl,
});

type NewPayment = Parameters<Processor['openPage']>[0];

const pageOf = (payment: NewPayment, baseUrl: string): Stripe.Checkout.SessionCreateParams => ({
  mode: 'payment',
  line_items: [
    {
      quantity: 1,
      price_data: { currency: 'usd', unit_amount: payment.amountCents, product_data: { name: 'EloquentPoll credit' } },
    },
  ],
  // The page shows the amount in the currency that is credited.
  adaptive_pricing: { enabled: false },
  client_reference_id: payment.id,
  metadata: metadataOf(payment, baseUrl),
  payment_intent_data: { metadata: metadataOf(payment, baseUrl) },
  success_url: `${baseUrl}/dashboard?checkout=success`,
  cancel_url: `${baseUrl}/dashboard?checkout=cancelled`,
});

const nameOf = ({ id, client_reference_id }: Stripe.Checkout.Session): PaymentName | null =>
  client_reference_id === null ? null : { processorId: id, id: client_reference_id };

function toPaymentEvent({ id, type, livemode, data }: Stripe.Event): PaymentEvent {
  return { id, type, livemode, subject: subjectOf(data.object) };
}

function subjectOf(object: Stripe.Event.Data.Object): PaymentEvent['subject'] {
  if (!('object' in object)) return null;
  if (object.object === 'checkout.session') return nameOf(object as Stripe.Checkout.Session);
  if (!('payment_intent' in object)) return null;
  const { payment_intent: intent } = object as Pick<Stripe.Charge, 'payment_intent'>;
  const paymentIntent = typeof intent === 'string' ? intent : intent?.id;
  return paymentIntent === undefined ? null : { paymentIntent };
}

/** Keeps type, code and request id of an error for the log; its message may quote what was sent. */
function withoutMessage(error: unknown): Error {
  if (!(error instanceof Error)) return new Error('stripe: unknown error');
  const { name, type, code, statusCode, requestId } = error as Error & Record<string, unknown>;
  return new Error(['stripe', type ?? name, code, statusCode, requestId].filter((word) => word).join(' '));
}
