import {
  DeliveryParams,
  EndpointParams,
  LIMITS,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookDeliveryQuery,
} from '@eloquentpoll/contracts';
import { listDeliveries } from '@eloquentpoll/storage';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY, READS_BODY } from '../../http/answers.ts';
import type { AccountsContext } from '../context.ts';
import { sendAgain, sendTest } from '../webhooks/change-endpoints.ts';
import { toWebhookDelivery } from '../webhooks/to-wire.ts';
import { endpointOf } from '../webhooks/webhooks.ts';

const shared = { tags: ['Webhooks'], security: access.sessionOrBearer };
const missing = ['webhook_endpoint_not_found', 'not_configured'] as const;
const sends = { operation: 'webhook_test' } as const;

/** The delivery log of an endpoint, a test event, and sending a delivery again. */
export function webhookDeliveryRoutes(app: FastifyInstance, context: AccountsContext): void {
  app.get<{ Params: EndpointParams; Querystring: WebhookDeliveryQuery }>(
    '/api/webhook-endpoints/:endpointId/deliveries',
    {
      config: { operation: 'account' },
      schema: {
        ...shared,
        operationId: 'listWebhookDeliveries',
        summary: 'List webhook deliveries',
        description: 'Sent and waiting deliveries of an endpoint, newest first. They are kept for 30 days.',
        params: EndpointParams,
        querystring: WebhookDeliveryQuery,
        response: { 200: jsonAnswer('One page.', WebhookDeliveryList), ...errors(...NEEDS_KEY, ...missing) },
      },
    },
    async (request): Promise<WebhookDeliveryList> => {
      const account = accountOf(request);
      const { id } = await endpointOf(context, account, request.params.endpointId);
      const { limit = LIMITS.webhooks.deliveries.default, after, status } = request.query;
      const page = await listDeliveries(context.storage, account, id, { limit, after, status });
      return { deliveries: page.deliveries.map(toWebhookDelivery), after: page.after };
    },
  );

  app.post<{ Params: EndpointParams }>(
    '/api/webhook-endpoints/:endpointId/test',
    {
      config: sends,
      schema: {
        ...shared,
        operationId: 'testWebhookEndpoint',
        summary: 'Send a test event',
        description:
          'Sends an event of the type `webhook.test`, signed like any other. Its delivery appears in the log.',
        params: EndpointParams,
        response: {
          202: jsonAnswer('The delivery, which is being sent.', WebhookDelivery),
          ...errors(...READS_BODY, ...NEEDS_KEY, ...missing, 'forbidden_origin', 'webhook_disabled'),
        },
      },
    },
    async (request, reply): Promise<WebhookDelivery> => {
      reply.code(202);
      return toWebhookDelivery(await sendTest(context, accountOf(request), request.params.endpointId));
    },
  );

  app.post<{ Params: DeliveryParams }>(
    '/api/webhook-endpoints/:endpointId/deliveries/:deliveryId/resend',
    {
      config: { ...sends, idempotent: 'by nature' },
      schema: {
        ...shared,
        operationId: 'resendWebhookDelivery',
        summary: 'Send a delivery again',
        description: 'Sends it at once with the same `webhook-id`, and retries for another three days.',
        params: DeliveryParams,
        response: {
          202: jsonAnswer('The delivery, which is being sent.', WebhookDelivery),
          ...errors(
            ...READS_BODY,
            ...NEEDS_KEY,
            ...missing,
            'webhook_delivery_not_found',
            'forbidden_origin',
            'webhook_disabled',
          ),
        },
      },
    },
    async (request, reply): Promise<WebhookDelivery> => {
      reply.code(202);
      return toWebhookDelivery(await sendAgain(context, accountOf(request), request.params));
    },
  );
}
