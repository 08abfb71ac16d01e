import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app.ts';
import { ProviderApiError } from '../errors.ts';
import { payPage, payPagePolicy } from './pay-page.ts';
import { type PaidOrder, PayPages } from './pay-pages.ts';

// A simulated card processor, as far as the service needs one, in Stripe's formats, and the page where a person pays.
// It asks for no card and sends no events: the customer returns to the service, which then queries the payment.

const EMPTY_LIST = { object: 'list', data: [], has_more: false };

export function cardPaymentRoutes(app: App): void {
  void app.register(async (scope: App) => {
    scope.addContentTypeParser<string>(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      async (_request: FastifyRequest, text: string) => Object.fromEntries(new URLSearchParams(text)),
    );
    const pages = new PayPages();

    scope.post('/v1/checkout/sessions', async (request) => {
      const { body } = request as { body: Record<string, string> };
      const id = pages.open({
        reference: field(body, 'client_reference_id'),
        cents: Number(field(body, 'line_items[0][price_data][unit_amount]')),
        successUrl: field(body, 'success_url'),
        cancelUrl: field(body, 'cancel_url'),
        metadata: metadataIn(body),
      });
      return shown(pages, id, request);
    });
    scope.get('/v1/checkout/sessions/:id', async (request) => shown(pages, idOf(request), request));
    // There are no refunds or disputes.
    for (const collection of ['checkout/sessions', 'disputes', 'events', 'refunds']) {
      scope.get(`/v1/${collection}`, async () => EMPTY_LIST);
    }

    scope.get('/v1/balance_transactions', async (request) => movements(pages, request.query as MovementQuery));

    scope.get('/pay/:id', async (request, reply) => {
      const open = pages.find(idOf(request));
      if (!open) throw new ProviderApiError(404, 'This payment page is closed: begin again where you came from.');
      return reply
        .header('content-security-policy', payPagePolicy(open.successUrl))
        .type('text/html; charset=utf-8')
        .send(payPage(open.cents));
    });
    scope.post('/pay/:id', async (request, reply: FastifyReply) => {
      const id = idOf(request);
      const open = pages.find(id);
      if (!open) throw new ProviderApiError(404, 'This payment page is closed: begin again where you came from.');
      if ((request.body as Record<string, string>).answer !== 'pay') return reply.redirect(open.cancelUrl, 303);
      pages.pay(id);
      return reply.redirect(open.successUrl, 303);
    });
  });
}

const idOf = ({ params }: FastifyRequest): string => (params as { id: string }).id;

function field(body: Record<string, string>, name: string): string {
  const value = body[name];
  if (value === undefined) throw new ProviderApiError(400, `Missing required param: ${name}.`, 'parameter_missing');
  return value;
}

const METADATA = 'metadata[';

function metadataIn(body: Record<string, string>): Record<string, string> {
  const named = Object.entries(body).filter(([name]) => name.startsWith(METADATA));
  return Object.fromEntries(named.map(([name, value]) => [name.slice(METADATA.length, -1), value]));
}

interface MovementQuery {
  'created[gte]'?: string;
  'created[lt]'?: string;
  starting_after?: string;
  limit?: string;
}

/** The movements of the processor's balance: each payment once. */
function movements(pages: PayPages, query: MovementQuery): object {
  const [from, before] = [Number(query['created[gte]'] ?? 0), Number(query['created[lt]'] ?? Number.MAX_SAFE_INTEGER)];
  const all = pages.paid().filter(({ paidAtS }) => paidAtS >= from && paidAtS < before);
  const rows = all.map(movement);
  const start = rows.findIndex(({ id }) => id === query.starting_after) + 1;
  const limit = Number(query.limit ?? 10);
  return { object: 'list', data: rows.slice(start, start + limit), has_more: rows.length > start + limit };
}

const movement = ({ id, cents, metadata, paidAtS }: PaidOrder) => ({
  id: id.replace('cs_', 'txn_'),
  object: 'balance_transaction',
  amount: cents,
  currency: 'usd',
  created: paidAtS,
  source: {
    id: id.replace('cs_', 'ch_'),
    object: 'charge',
    amount: cents,
    currency: 'usd',
    metadata,
    payment_intent: id.replace('cs_', 'pi_'),
  },
});

function shown(pages: PayPages, id: string, { protocol, host }: FastifyRequest): object {
  const session = pages.look(id);
  if (!session) throw new ProviderApiError(404, `No such checkout.session: '${id}'`, 'resource_missing');
  const { reference, cents, state } = session;
  const charge = { id: id.replace('cs_', 'ch_'), object: 'charge', amount_refunded: 0, disputed: false };
  const intent = { id: id.replace('cs_', 'pi_'), object: 'payment_intent', latest_charge: charge };
  return {
    id,
    object: 'checkout.session',
    client_reference_id: reference,
    amount_total: cents,
    currency: 'usd',
    livemode: false,
    status: state === 'paid' ? 'complete' : state,
    payment_status: state === 'paid' ? 'paid' : 'unpaid',
    payment_intent: state === 'paid' ? intent : null,
    url: state === 'open' ? `${protocol}://${host}/pay/${id}` : null,
  };
}
