import { SurfaceAnswer, SurfacePage, SurfaceQuery, SurfaceRequest } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, READS_BODY } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import type { Facts } from '../documents/facts.ts';
import { findSurfaces } from '../documents/find-surfaces.ts';
import { surfacesOf } from '../documents/surfaces.ts';

/** POST /api/tools/list_surfaces and get_surface. */
export function surfaceToolRoutes(app: FastifyInstance, facts: Facts): void {
  const all = surfacesOf(facts);
  app.post<{ Body: SurfaceQuery }>(
    '/api/tools/list_surfaces',
    {
      config: { operation: 'compute', idempotent: 'by nature' },
      // A missing body selects all surfaces.
      preValidation: async (request) => {
        if (request.body === undefined) request.body = {};
      },
      schema: {
        operationId: 'listSurfaces',
        tags: ['System'],
        summary: 'Search integrations',
        description: 'An empty body, or none, lists all surfaces.',
        security: access.none,
        body: Type.Ref(SurfaceQuery),
        response: { 200: jsonAnswer('One page of surfaces.', SurfacePage), ...errors(...READS_BODY) },
      },
    },
    async ({ body }): Promise<SurfacePage> => findSurfaces(all, body),
  );

  app.post<{ Body: SurfaceRequest }>(
    '/api/tools/get_surface',
    {
      config: { operation: 'compute', idempotent: 'by nature' },
      schema: {
        operationId: 'getSurface',
        tags: ['System'],
        summary: 'Get an integration',
        security: access.none,
        body: Type.Ref(SurfaceRequest),
        response: { 200: jsonAnswer('The surface.', SurfaceAnswer), ...errors(...READS_BODY, 'surface_not_found') },
      },
    },
    async ({ body }): Promise<SurfaceAnswer> => {
      const surface = all.find(({ pattern_id }) => pattern_id === body.pattern_id);
      if (!surface) throw new ApiError('surface_not_found');
      return { surface };
    },
  );
}
