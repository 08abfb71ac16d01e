import type { CheckoutFacts } from '@eloquentpoll/storage';
import type Stripe from 'stripe';
import type { CheckoutSettings } from '../../config/payment-settings.ts';
import { ApiError } from '../../http/api-error.ts';

// The part of Stripe that we use. Events only trigger a read: facts come from the API. Every failure is a
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
  /** The payment of a charge, refund or dispute; null if it is not one of ours. */
  find(paymentIntent: string): Promise<PaymentName | null>;
  /** Verifies an event's signature and parses it; 400 if it is invalid. */
  verifyEvent(body: Buffer, signature: string | undefined): Promise<PaymentEvent>;
  /** Refund and dispute events since then, newest first, at most 10,000. */
  reversals(sinceS: number): Promise<PaymentEvent[]>;
}

export interface PaymentName {
  processorId: string;
  /** Our id of the checkout. */
  id: string;
}

export interface PaymentReport extends CheckoutFacts {
  id: string | null;
  currency: string | null;
  amountCents: number | null;
  /** The base URL of the installation that opened it, and the account there that pays; both are in its metadata. */
  origin: string | null;
  accountId: string | null;
}

export interface PaymentEvent {
  id: string;
  type: string;
  livemode: boolean;
  /** A checkout, or a charge, refund or dispute of a payment intent; null for other objects. */
  subject: PaymentName | { paymentIntent: string } | null;
}

export function stripeProcessor(settings: CheckoutSettings, baseUrl: string, timeoutMs = TIMEOUT_MS): Processor {
  let client: Promise<Stripe> | undefined;
  const stripe = () => (client ??= connect(settings, timeoutMs));

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
      call(async ({ checkout, disputes }) => {
        const session = await checkout.sessions.retrieve(processorId, { expand: ['payment_intent.latest_charge'] });
        const charge = chargeOf(session);
        const disputed = charge?.disputed ? await disputes.list({ charge: charge.id, limit: 100 }) : null;
        return reportOf(session, charge?.amount_refunded ?? 0, disputed?.data ?? []);
      }),
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
      const found: PaymentEvent[] = [];
      let last: string | undefined;
      for (let page = 0; page < MAX_PAGES; page++) {
        const query = { types: [...REVERSALS], created: { gte: sinceS }, limit: 100 };
        const { data, has_more } = await call(({ events }) =>
          events.list(last === undefined ? query : { ...query, starting_after: last }),
        );
        found.push(...data.map(toPaymentEvent));
        last = data.at(-1)?.id;
        if (!has_more || last === undefined) break;
      }
      return found;
    },
  };
}

const MAX_PAGES = 100;
/** Events after which we may keep less of a payment, or more again. */
const REVERSALS = [
  'charge.refunded',
  'charge.refund.updated',
  'refund.updated',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
] as const satisfies Stripe.Event['type'][];
/** The disputed amount is withdrawn or may be. Won disputes and inquiries cost nothing. */
const WITHHELD = new Set<Stripe.Dispute['status']>(['needs_response', 'under_review', 'lost']);

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

/** Whose money it is can be read at the processor, for the day on which our row of it is lost. */
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

function chargeOf({ payment_intent }: Stripe.Checkout.Session): Stripe.Charge | null {
  const charge = typeof payment_intent === 'object' ? payment_intent?.latest_charge : null;
  return typeof charge === 'object' ? (charge ?? null) : null;
}

function reportOf(
  session: Stripe.Checkout.Session,
  refundedCents: number,
  disputes: readonly Stripe.Dispute[],
): PaymentReport {
  const { payment_intent: intent, amount_total: amountCents } = session;
  const disputed = disputes.filter(({ status }) => WITHHELD.has(status)).reduce((sum, { amount }) => sum + amount, 0);
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
    reversedCents: Math.min(amountCents ?? 0, refundedCents + disputed),
  };
}

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
