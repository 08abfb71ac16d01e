import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, NOT_MODIFIED } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { sendTagged } from '../../http/send-tagged.ts';
import type { DiscoveryContext } from '../context.ts';
import { providerDocument } from '../documents/provider-document.ts';

/** GET /.well-known/openid-configuration: the identity provider's metadata. */
export function openidConfigurationRoute(app: FastifyInstance, { identityProvider }: DiscoveryContext): void {
  app.get(
    '/.well-known/openid-configuration',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'getOpenIdConfiguration',
        tags: ['System'],
        summary: 'Get OpenID Connect metadata',
        description: '`issuer` and endpoints are those of the identity provider.',
        security: access.none,
        response: {
          200: jsonAnswer('The metadata.', Type.Object({ issuer: Type.String() }, { additionalProperties: true })),
          ...NOT_MODIFIED,
          ...errors('not_configured'),
        },
      },
    },
    async (request, reply) => {
      if (!identityProvider) {
        throw new ApiError('not_configured', { detail: 'This service has no identity provider.' });
      }
      const { document, seconds } = await providerDocument(identityProvider);
      reply.type('application/json; charset=utf-8').header('cache-control', `public, max-age=${seconds}`);
      return sendTagged(request, reply, JSON.stringify(document));
    },
  );
}
