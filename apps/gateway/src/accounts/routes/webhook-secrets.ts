import { EndpointParams, SecretRotation, WebhookSecret } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access, accountOf, requireUnrestricted } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY, READS_BODY } from '../../http/answers.ts';
import type { AccountsContext } from '../context.ts';
import { rotateSecret, secretOf } from '../webhooks/change-endpoints.ts';
import { toWebhookEndpoint } from '../webhooks/to-wire.ts';
import { endpointOf } from '../webhooks/webhooks.ts';

const config = { operation: 'account' } as const;
const shared = { tags: ['Webhooks'], security: access.sessionOrBearer };
const missing = ['webhook_endpoint_not_found', 'not_configured'] as const;

/** GET for an endpoint's secret, POST for a new one. */
export function webhookSecretRoutes(app: FastifyInstance, context: AccountsContext): void {
  app.get<{ Params: EndpointParams }>(
    '/api/webhook-endpoints/:endpointId/secret',
    {
      config,
      schema: {
        ...shared,
        operationId: 'getWebhookSecret',
        summary: 'Read the secret of a webhook endpoint',
        description:
          'The secret that verifies messages of the endpoint. `account` is the secret of all messages to a `webhook_url`.',
        params: EndpointParams,
        response: {
          200: jsonAnswer('The secret.', WebhookSecret),
          ...errors(...NEEDS_KEY, ...missing, 'restricted_key'),
        },
      },
    },
    async (request, reply): Promise<WebhookSecret> => {
      requireUnrestricted(request.principal);
      reply.header('cache-control', 'no-store');
      const endpoint = await endpointOf(context, accountOf(request), request.params.endpointId);
      return toSecret(toWebhookEndpoint(endpoint), await secretOf(context, endpoint));
    },
  );

  app.post<{ Params: EndpointParams; Body: SecretRotation | null }>(
    '/api/webhook-endpoints/:endpointId/rotate-secret',
    {
      config,
      schema: {
        ...shared,
        operationId: 'rotateWebhookSecret',
        summary: 'Replace the secret of a webhook endpoint',
        description:
          'During the overlap, messages carry signatures of both secrets, so that a receiver can switch at any time.',
        params: EndpointParams,
        body: Type.Ref(SecretRotation),
        response: {
          200: jsonAnswer('The new secret.', WebhookSecret),
          ...errors(...READS_BODY, ...NEEDS_KEY, ...missing, 'restricted_key', 'forbidden_origin'),
        },
      },
    },
    async (request, reply): Promise<WebhookSecret> => {
      requireUnrestricted(request.principal);
      reply.header('cache-control', 'no-store');
      const { endpointId } = request.params;
      const { endpoint, secret } = await rotateSecret(context, accountOf(request), endpointId, request.body?.overlap_s);
      return toSecret(toWebhookEndpoint(endpoint), secret);
    },
  );
}

const toSecret = (
  { endpoint_id, previous_secret_until }: Pick<WebhookSecret, 'endpoint_id' | 'previous_secret_until'>,
  secret: string,
): WebhookSecret => ({ endpoint_id, secret, previous_secret_until });
