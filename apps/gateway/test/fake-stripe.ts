import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import Stripe from 'stripe';
import type { Test } from 'tap';
import type { CheckoutSettings } from '../src/payment-settings.ts';
import { loopbackServer } from './loopback-server.ts';

// Stripe on loopback, as far as we use it: it refuses fields that it does not know, keeps its word about idempotency
// keys, and signs events with Stripe's own generator. What a customer or a bank does is a method.

const SECRETS = ['whsec_newer_secret', 'whsec_older_secret'];
const FIELDS = [
  /^mode$/,
  /^line_items\[0\]\[(quantity|price_data\]\[(currency|unit_amount|product_data\]\[name))\]$/,
  /^adaptive_pricing\[enabled\]$/,
  /^client_reference_id$/,
  /^metadata\[checkout_id\]$/,
  /^payment_intent_data\[metadata\]\[checkout_id\]$/,
  /^(success|cancel)_url$/,
];

export interface FakeSession {
  id: string;
  client_reference_id: string | null;
  amount_total: number;
  currency: string;
  livemode: boolean;
  status: 'open' | 'complete' | 'expired';
  payment_status: 'unpaid' | 'paid';
  payment_intent: string | null;
  refunded: number;
  disputes: { amount: number; status: Stripe.Dispute['status'] }[];
  form: Record<string, string>;
}

export interface StripeEvent {
  id: string;
  object: 'event';
  type: string;
  livemode: boolean;
  created: number;
  data: { object: Record<string, unknown> };
}

type Trouble = 'none' | 'down' | 'late' | 'errors' | 'nonsense';

export async function fakeStripe(t: Pick<Test, 'teardown'>) {
  const sessions = new Map<string, FakeSession>();
  const byKey = new Map<string, { body: string; session: FakeSession }>();
  const events: StripeEvent[] = [];
  const asked: string[] = [];
  let trouble: Trouble = 'none';

  const apiBase = await loopbackServer(t, ({ request, body, response, reply }) => {
    const url = new URL(request.url ?? '/', 'http://stripe.test');
    asked.push(`${request.method} ${url.pathname}`);
    if (trouble === 'down') return request.socket.destroy();
    if (trouble === 'errors') return reply(500, { error: { type: 'api_error', message: 'secret words' } });
    if (trouble === 'nonsense') return response.end('<html>');
    const { status, value } = handle(request, url, body);
    if (trouble !== 'late') return reply(status, value);
    // Done, but nobody hears of it.
    trouble = 'none';
  });

  function handle(request: IncomingMessage, url: URL, body: string): { status: number; value: object } {
    if (request.headers.authorization !== 'Bearer sk_test_12345678') return refusal(401, 'no key');
    if (request.headers['stripe-version'] !== '2026-10-28.endive') return refusal(400, 'another version');
    const [, collection, id] = /^\/v1\/(checkout\/sessions|disputes|events)(?:\/(\w+))?$/.exec(url.pathname) ?? [];
    if (request.method === 'POST' && collection === 'checkout/sessions' && !id) return create(request, body);
    if (request.method !== 'GET') return refusal(404, 'no such operation');
    if (collection === 'checkout/sessions' && id) {
      const session = sessions.get(id);
      const expanded = url.searchParams.get('expand[0]') === 'payment_intent.latest_charge';
      return session ? { status: 200, value: shown(session, expanded) } : refusal(404, 'no such session');
    }
    if (collection === 'checkout/sessions') {
      const found = [...sessions.values()].filter(
        (one) => one.payment_intent === url.searchParams.get('payment_intent'),
      );
      return list(found.map((session) => shown(session, false)));
    }
    if (collection === 'disputes') {
      const of = [...sessions.values()].find((one) => chargeId(one) === url.searchParams.get('charge'));
      return list((of?.disputes ?? []).map((dispute, i) => ({ id: `dp_${i}`, object: 'dispute', ...dispute })));
    }
    const types = [...url.searchParams].filter(([name]) => name.startsWith('types')).map(([, type]) => type);
    return list(events.filter((event) => types.includes(event.type)).toReversed());
  }

  function create(request: IncomingMessage, body: string) {
    const key = String(request.headers['idempotency-key']);
    const known = byKey.get(key);
    if (known) return known.body === body ? { status: 200, value: shown(known.session, false) } : refusal(400, 'key');
    const form = Object.fromEntries(new URLSearchParams(body));
    const unknown = Object.keys(form).find((name) => !FIELDS.some((field) => field.test(name)));
    if (unknown) return refusal(400, `Received unknown parameter: ${unknown}`);
    if (key !== form.client_reference_id) return refusal(400, 'an idempotency key that is not our id of the payment');
    const session: FakeSession = {
      id: `cs_test_${randomBytes(8).toString('hex')}`,
      client_reference_id: form.client_reference_id ?? null,
      amount_total: Number(form['line_items[0][price_data][unit_amount]']),
      currency: form['line_items[0][price_data][currency]'] ?? '',
      livemode: false,
      status: 'open',
      payment_status: 'unpaid',
      payment_intent: null,
      refunded: 0,
      disputes: [],
      form,
    };
    sessions.set(session.id, session);
    byKey.set(key, { body, session });
    return { status: 200, value: shown(session, false) };
  }

  function event(type: string, object: Record<string, unknown>, more: Partial<StripeEvent> = {}): StripeEvent {
    const made: StripeEvent = {
      id: `evt_${randomBytes(8).toString('hex')}`,
      object: 'event',
      type,
      livemode: false,
      created: Math.floor(Date.now() / 1_000),
      data: { object },
      ...more,
    };
    events.push(made);
    return made;
  }

  return {
    sessions,
    asked,
    secrets: SECRETS,
    settings: {
      secretKey: 'sk_test_12345678',
      webhookSecrets: SECRETS,
      livemode: false,
      apiBase,
    } satisfies CheckoutSettings,
    trouble: (kind: Trouble) => {
      trouble = kind;
    },
    event,
    /** The customer pays; slow ways to pay are confirmed later. */
    complete(session: FakeSession, { paid = true } = {}) {
      session.status = 'complete';
      session.payment_intent ??= `pi_${randomBytes(8).toString('hex')}`;
      session.payment_status = paid ? 'paid' : 'unpaid';
      return event('checkout.session.completed', shown(session, false));
    },
    confirm(session: FakeSession) {
      session.payment_status = 'paid';
      return event('checkout.session.async_payment_succeeded', shown(session, false));
    },
    expire(session: FakeSession) {
      session.status = 'expired';
      return event('checkout.session.expired', shown(session, false));
    },
    refund(session: FakeSession, cents: number) {
      session.refunded += cents;
      return event('charge.refunded', charge(session));
    },
    dispute(session: FakeSession, amount: number) {
      session.disputes = [{ amount, status: 'needs_response' }];
      return event('charge.dispute.created', { object: 'dispute', payment_intent: session.payment_intent });
    },
    closeDispute(session: FakeSession, status: 'won' | 'lost') {
      for (const dispute of session.disputes) dispute.status = status;
      return event('charge.dispute.closed', { object: 'dispute', payment_intent: session.payment_intent });
    },
  };
}

/** The request that delivers an event. */
export function delivery(event: StripeEvent, { secret = SECRETS[0]!, ageS = 0, payload = JSON.stringify(event) } = {}) {
  const timestamp = Math.floor(Date.now() / 1_000) - ageS;
  const signature = new Stripe('sk_test_12345678').webhooks.generateTestHeaderString({ payload, secret, timestamp });
  return {
    method: 'POST' as const,
    url: '/api/webhooks/stripe',
    headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature },
    payload,
  };
}

const chargeId = ({ id }: FakeSession) => id.replace('cs_', 'ch_');

const charge = (session: FakeSession) => ({
  id: chargeId(session),
  object: 'charge',
  payment_intent: session.payment_intent,
  amount_refunded: session.refunded,
  disputed: session.disputes.length > 0,
});

function shown(session: FakeSession, expanded: boolean) {
  const { form: _form, refunded: _refunded, disputes: _disputes, ...fields } = session;
  const intent = { id: session.payment_intent, object: 'payment_intent', latest_charge: charge(session) };
  return {
    ...fields,
    object: 'checkout.session',
    payment_intent: expanded && session.payment_intent ? intent : session.payment_intent,
    url: session.status === 'open' ? `https://checkout.stripe.test/c/pay/${session.id}` : null,
  };
}

const list = (data: object[]) => ({ status: 200, value: { object: 'list', has_more: false, data } });

const refusal = (status: number, message: string) => ({
  status,
  value: { error: { type: 'invalid_request_error', message } },
});
