import { ProtectedResource } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import { access, SCOPES } from '../../http/access.ts';
import { errors, jsonAnswer, NOT_MODIFIED } from '../../http/answers.ts';
import { sendTagged } from '../../http/send-tagged.ts';
import type { DiscoveryContext } from '../context.ts';
import { KEPT_S, providerDocument } from '../documents/provider-document.ts';

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
      async (request, reply) => {
        const { issuer, seconds } = await issuerOf(context);
        reply.type('application/json; charset=utf-8').header('cache-control', `public, max-age=${seconds}`);
        return sendTagged(request, reply, JSON.stringify(metadata(context, `${baseUrl}${path}`, issuer)));
      },
    );
  }
}

/**
 * As the provider itself spells its issuer, with or without a slash at the end, because clients compare it character by
 * character. While it was never reached, as in the settings.
 */
async function issuerOf({ identityProvider }: DiscoveryContext): Promise<{ issuer: string | null; seconds: number }> {
  if (!identityProvider) return { issuer: null, seconds: KEPT_S };
  const { document, seconds } = await providerDocument(identityProvider);
  return { issuer: document.issuer, seconds };
}

const metadata = ({ config }: DiscoveryContext, resource: string, issuer: string | null): ProtectedResource => ({
  resource,
  ...(issuer !== null && { authorization_servers: [issuer] }),
  scopes_supported: ['openid', 'email', ...SCOPES],
  bearer_methods_supported: ['header'],
  resource_name: 'EloquentPoll',
  resource_documentation: `${config.baseUrl}/api/docs`,
});
