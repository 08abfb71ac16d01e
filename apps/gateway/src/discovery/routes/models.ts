import { ModelListing, ModelsQuery } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, NOT_MODIFIED } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { sendPublicText } from '../../http/send-tagged.ts';
import type { DiscoveryContext } from '../context.ts';
import { modelListings } from '../registry/model-listings.ts';

/** GET /api/models: the model variants in the configured registry. */
export function modelsRoute(app: FastifyInstance, { registry, log }: DiscoveryContext): void {
  const listings = registry && modelListings(registry, log);
  app.get<{ Querystring: ModelsQuery }>(
    '/api/models',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'listModels',
        tags: ['System'],
        summary: 'List models',
        description:
          'Cached for an hour; if the registry is unavailable, for up to 24 hours. `model_count` is null if it is unknown. Other query parameters have no effect.',
        security: access.none,
        querystring: ModelsQuery,
        response: {
          200: jsonAnswer('The variants, as the registry describes them.', ModelListing),
          ...NOT_MODIFIED,
          ...errors('validation_error', 'upstream_registry_error', 'registry_not_configured'),
        },
      },
    },
    async (request, reply) => {
      if (!listings) throw new ApiError('registry_not_configured');
      const { value, expiresAt } = await listings(request.query);
      const seconds = Math.max(MIN_MAX_AGE_S, Math.ceil((expiresAt - Date.now()) / 1_000));
      reply.header('cache-control', `public, max-age=${seconds}`).type('application/json; charset=utf-8');
      return sendPublicText(request, reply, value);
    },
  );
}

/** Minimum max-age, for a stale listing. */
const MIN_MAX_AGE_S = 30;
