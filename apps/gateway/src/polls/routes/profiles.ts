import { ProfileListing } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer } from '../../http/answers.ts';
import { DEFAULT_PROFILE, PROFILES } from '../order/profiles.ts';

/** GET /api/profiles: the bundles that a poll's `profile` can name. */
export function profilesRoute(app: FastifyInstance): void {
  const listing: ProfileListing = { default: DEFAULT_PROFILE, count: PROFILES.length, profiles: [...PROFILES] };
  app.get(
    '/api/profiles',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'listProfiles',
        tags: ['Polling'],
        summary: 'List profiles',
        security: access.none,
        response: { 200: jsonAnswer('The profiles.', ProfileListing), ...errors() },
      },
    },
    async (_request, reply): Promise<ProfileListing> => {
      reply.header('cache-control', 'public, max-age=300');
      return listing;
    },
  );
}
