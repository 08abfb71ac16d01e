import { ProtectedResource } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import { access, SCOPES } from '../../http/access.ts';
import { errors, jsonAnswer, NOT_MODIFIED } from '../../http/answers.ts';
import { sendTagged } from '../../http/send-tagged.ts';
import type { DiscoveryContext } from '../context.ts';

/** GET /.well-known/oauth-protected-resource (RFC 9728), for the API and for MCP. */
export function protectedResourceRoutes(app: FastifyInstance, context: DiscoveryContext): void {
  const { baseUrl } = context.config;
  const resources = [
    { path: '', operationId: 'getProtectedResource', summary: 'Get OAuth metadata of this service' },
    { path: '/api/mcp', operationId: 'getMcpProtectedResource', summary: 'Get OAuth metadata of the MCP endpoint' },
  ];
  for (const { path, operationId, summary } of resources) {
    app.get(
      `/.well-known/oauth-protected-resource${path}`,
      {
        config: { operation: 'read' },
        schema: {
          operationId,
          tags: ['System'],
          summary,
          security: access.none,
          response: { 200: jsonAnswer('The metadata.', ProtectedResource), ...NOT_MODIFIED, ...errors() },
        },
      },
      (request, reply) => {
        reply.type('application/json; charset=utf-8').header('cache-control', 'public, max-age=3600');
        return sendTagged(request, reply, JSON.stringify(metadata(`${baseUrl}${path}`, context)));
      },
    );
  }
}

const metadata = (resource: string, { config, identityProvider }: DiscoveryContext): ProtectedResource => ({
  resource,
  // If known, the provider's own spelling of its issuer, because clients compare it character by character.
  ...(identityProvider && {
    authorization_servers: [identityProvider.cachedMetadata()?.issuer ?? identityProvider.issuer],
  }),
  scopes_supported: ['openid', 'email', ...SCOPES],
  bearer_methods_supported: ['header'],
  resource_name: 'EloquentPoll',
  resource_documentation: `${config.baseUrl}/api/docs`,
});
