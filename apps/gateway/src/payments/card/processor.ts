import type { CheckoutFacts } from '@eloquentpoll/storage';
import type Stripe from 'stripe';
import type { CheckoutSettings } from '../../config/payment-settings.ts';
import { ApiError } from '../../http/api-error.ts';

// Stripe as we use it. Answers and events are turned into the few facts that we act on; an event is only a reason to
// ask, so facts come from the API alone. Whatever goes wrong over there is one error of ours, without its words.

const API_VERSION = '2026-10-28.endive';
const TIMEOUT_MS = 10_000;
const TOLERANCE_S = 300;

export interface Processor {
  /** Opens a page where the payment can be made; repeated with the same id it is the same page. */
  openPage(payment: { id: string; amountCents: number }): Promise<{ processorId: string; url: string }>;
  /** What became of a payment. */
  read(processorId: string): Promise<PaymentReport>;
  /** Which payment a charge, a refund or a dispute belongs to; null when it is none that we opened. */
  find(paymentIntent: string): Promise<PaymentName | null>;
  /** An event, once its signature was found good; 400 otherwise. */
  openEvent(body: Buffer, signature: string | undefined): Promise<Happening>;
  /** Refunds and disputes since then, newest first, a bounded number of them. */
  reversals(sinceS: number): Promise<Happening[]>;
}

export interface PaymentName {
  processorId: string;
  /** The id that we gave it. */
  id: string;
}

export interface PaymentReport extends CheckoutFacts {
  id: string | null;
  currency: string | null;
  amountCents: number | null;
}

export interface Happening {
  id: string;
  type: string;
  livemode: boolean;
  /** What it is about: a payment page, something that was done with the money, or nothing of ours. */
  about: PaymentName | { paymentIntent: string } | null;
}

export function stripeProcessor(settings: CheckoutSettings, baseUrl: string, timeoutMs = TIMEOUT_MS): Processor {
  let client: Promise<Stripe> | undefined;
  const stripe = () => (client ??= connect(settings, timeoutMs));

  async function ask<T>(question: (stripe: Stripe) => Promise<T>): Promise<T> {
    try {
      return await question(await stripe());
    } catch (error) {
      throw new ApiError('payment_processor_error', { retryAfterSeconds: 5, cause: inOurWords(error) });
    }
  }

  return {
    openPage: ({ id, amountCents }) =>
      ask(async ({ checkout }) => {
        const session = await checkout.sessions.create(pageOf(id, amountCents, baseUrl), { idempotencyKey: id });
        if (!session.url) throw new Error('a session without a page');
        return { processorId: session.id, url: session.url };
      }),
    read: (processorId) =>
      ask(async ({ checkout, disputes }) => {
        const session = await checkout.sessions.retrieve(processorId, { expand: ['payment_intent.latest_charge'] });
        const charge = chargeOf(session);
        const disputed = charge?.disputed ? await disputes.list({ charge: charge.id, limit: 100 }) : null;
        return reportOf(session, charge?.amount_refunded ?? 0, disputed?.data ?? []);
      }),
    find: (paymentIntent) =>
      ask(async ({ checkout }) => {
        const { data } = await checkout.sessions.list({ payment_intent: paymentIntent, limit: 1 });
        return data[0] ? nameOf(data[0]) : null;
      }),
    async openEvent(body, signature) {
      const { webhooks } = await stripe();
      for (const secret of settings.webhookSecrets) {
        try {
          return happeningOf(webhooks.constructEvent(body, signature ?? '', secret, TOLERANCE_S));
        } catch {
          // Signed with the other secret, or not by Stripe.
        }
      }
      throw new ApiError('invalid_webhook');
    },
    async reversals(sinceS) {
      const found: Happening[] = [];
      let last: string | undefined;
      for (let page = 0; page < MOST_PAGES; page++) {
        const query = { types: [...REVERSALS], created: { gte: sinceS }, limit: 100 };
        const { data, has_more } = await ask(({ events }) =>
          events.list(last === undefined ? query : { ...query, starting_after: last }),
        );
        found.push(...data.map(happeningOf));
        last = data.at(-1)?.id;
        if (!has_more || last === undefined) break;
      }
      return found;
    },
  };
}

const MOST_PAGES = 10;
/** After these the money may be somewhere else than before. */
const REVERSALS = [
  'charge.refunded',
  'charge.refund.updated',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
] as const satisfies Stripe.Event['type'][];
/** Withdrawn or about to be: a dispute that is won, or was only a question, costs nothing. */
const COSTS = new Set<Stripe.Dispute['status']>(['needs_response', 'under_review', 'lost']);

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

const pageOf = (id: string, amountCents: number, baseUrl: string): Stripe.Checkout.SessionCreateParams => ({
  mode: 'payment',
  line_items: [
    {
      quantity: 1,
      price_data: { currency: 'usd', unit_amount: amountCents, product_data: { name: 'EloquentPoll credit' } },
    },
  ],
  // What is shown is what is credited, in the same currency.
  adaptive_pricing: { enabled: false },
  client_reference_id: id,
  metadata: { checkout_id: id },
  payment_intent_data: { metadata: { checkout_id: id } },
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
  const disputed = disputes.filter(({ status }) => COSTS.has(status)).reduce((sum, { amount }) => sum + amount, 0);
  return {
    processorId: session.id,
    id: session.client_reference_id,
    paymentIntent: typeof intent === 'string' ? intent : (intent?.id ?? null),
    livemode: session.livemode,
    currency: session.currency,
    amountCents,
    isPaid: session.payment_status === 'paid',
    isExpired: session.status === 'expired',
    reversedCents: Math.min(amountCents ?? 0, refundedCents + disputed),
  };
}

const nameOf = ({ id, client_reference_id }: Stripe.Checkout.Session): PaymentName | null =>
  client_reference_id === null ? null : { processorId: id, id: client_reference_id };

function happeningOf({ id, type, livemode, data }: Stripe.Event): Happening {
  return { id, type, livemode, about: subjectOf(data.object) };
}

function subjectOf(object: Stripe.Event.Data.Object): Happening['about'] {
  if (!('object' in object)) return null;
  if (object.object === 'checkout.session') return nameOf(object as Stripe.Checkout.Session);
  if (!('payment_intent' in object)) return null;
  const { payment_intent: intent } = object as Pick<Stripe.Charge, 'payment_intent'>;
  const paymentIntent = typeof intent === 'string' ? intent : intent?.id;
  return paymentIntent === undefined ? null : { paymentIntent };
}

function inOurWords(error: unknown): Error {
  if (!(error instanceof Error)) return new Error('stripe: not an error');
  const { name, type, code, statusCode, requestId } = error as Error & Record<string, unknown>;
  return new Error(['stripe', type ?? name, code, statusCode, requestId].filter((word) => word).join(' '));
}
