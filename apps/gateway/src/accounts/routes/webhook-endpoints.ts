import {
  EndpointParams,
  LIMITS,
  NewWebhookEndpoint,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointList,
  WebhookEndpointRemoval,
  WebhookEndpointRequest,
} from '@eloquentpoll/contracts';
import { listWebhookEndpoints } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access, accountOf, requireUnrestricted } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY, READS_BODY } from '../../http/answers.ts';
import type { AccountsContext } from '../context.ts';
import { addEndpoint, changeEndpoint, removeEndpoint } from '../webhooks/change-endpoints.ts';
import { toWebhookEndpoint } from '../webhooks/to-wire.ts';
import { endpointOf, webhooksOf } from '../webhooks/webhooks.ts';

const config = { operation: 'account' } as const;
const shared = { tags: ['Webhooks'], security: access.sessionOrBearer };
const missing = ['webhook_endpoint_not_found', 'not_configured'] as const;
const path = '/api/webhook-endpoints';

/** The webhook endpoints of an account: POST and GET for the list, GET, PATCH and DELETE for each. */
export function webhookEndpointRoutes(app: FastifyInstance, context: AccountsContext): void {
  app.get(
    path,
    {
      config,
      schema: {
        ...shared,
        operationId: 'listWebhookEndpoints',
        summary: 'List webhook endpoints',
        description:
          'Registered endpoints, oldest first. The endpoint that represents every `webhook_url` is at /account.',
        response: { 200: jsonAnswer('All of them.', WebhookEndpointList), ...errors(...NEEDS_KEY, 'not_configured') },
      },
    },
    async (request): Promise<WebhookEndpointList> => {
      webhooksOf(context);
      const endpoints = await listWebhookEndpoints(context.storage, accountOf(request));
      return { endpoints: endpoints.map(toWebhookEndpoint) };
    },
  );

  app.post<{ Body: WebhookEndpointRequest }>(
    path,
    {
      config,
      schema: {
        ...shared,
        operationId: 'createWebhookEndpoint',
        summary: 'Register a webhook endpoint',
        description: `From now on, events of the account are sent to it as Standard Webhooks. At most ${LIMITS.webhooks.endpoints} per account.`,
        body: Type.Ref(WebhookEndpointRequest),
        response: {
          201: jsonAnswer('The endpoint with its secret.', NewWebhookEndpoint),
          ...errors(
            ...READS_BODY,
            ...NEEDS_KEY,
            'restricted_key',
            'forbidden_origin',
            'webhook_limit_reached',
            'not_configured',
          ),
        },
      },
    },
    async (request, reply): Promise<NewWebhookEndpoint> => {
      requireUnrestricted(request.principal);
      const { endpoint, secret } = await addEndpoint(context, accountOf(request), request.body);
      reply.code(201).header('location', `${context.config.baseUrl}${path}/${endpoint.id}`);
      return { ...toWebhookEndpoint(endpoint), secret };
    },
  );

  app.get<{ Params: EndpointParams }>(
    `${path}/:endpointId`,
    {
      config,
      schema: {
        ...shared,
        operationId: 'getWebhookEndpoint',
        summary: 'Read a webhook endpoint',
        params: EndpointParams,
        response: { 200: jsonAnswer('The endpoint.', WebhookEndpoint), ...errors(...NEEDS_KEY, ...missing) },
      },
    },
    async (request): Promise<WebhookEndpoint> =>
      toWebhookEndpoint(await endpointOf(context, accountOf(request), request.params.endpointId)),
  );

  app.patch<{ Params: EndpointParams; Body: WebhookEndpointChange }>(
    `${path}/:endpointId`,
    {
      config,
      schema: {
        ...shared,
        operationId: 'changeWebhookEndpoint',
        summary: 'Change a webhook endpoint',
        description:
          'Fields that are left out stay as they are. A new address or `status` `enabled` resets the record of failures.',
        params: EndpointParams,
        body: Type.Ref(WebhookEndpointChange),
        response: {
          200: jsonAnswer('The changed endpoint.', WebhookEndpoint),
          ...errors(...READS_BODY, ...NEEDS_KEY, ...missing, 'restricted_key', 'forbidden_origin'),
        },
      },
    },
    async (request): Promise<WebhookEndpoint> => {
      requireUnrestricted(request.principal);
      const { url, description, event_types: eventTypes, status } = request.body;
      const isEnabled = status && status === 'enabled';
      const change = { url, description, eventTypes, isEnabled };
      return toWebhookEndpoint(await changeEndpoint(context, accountOf(request), request.params.endpointId, change));
    },
  );

  app.delete<{ Params: EndpointParams }>(
    `${path}/:endpointId`,
    {
      config,
      schema: {
        ...shared,
        operationId: 'removeWebhookEndpoint',
        summary: 'Remove a webhook endpoint',
        params: EndpointParams,
        response: {
          200: jsonAnswer('The endpoint is removed, with its log and waiting deliveries.', WebhookEndpointRemoval),
          ...errors(...READS_BODY, ...NEEDS_KEY, ...missing, 'restricted_key', 'forbidden_origin'),
        },
      },
    },
    async (request): Promise<WebhookEndpointRemoval> => {
      requireUnrestricted(request.principal);
      await removeEndpoint(context, accountOf(request), request.params.endpointId);
      return { removed: true };
    },
  );
}
