import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, NOT_MODIFIED } from '../../http/answers.ts';
import { sendPublicText } from '../../http/send-tagged.ts';

/** GET /api/openapi.json: computed from the routes, once. */
export function openapiDocumentRoute(app: FastifyInstance): void {
  let document: string | undefined;
  app.get(
    '/api/openapi.json',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'getOpenApi',
        tags: ['System'],
        summary: 'Get the OpenAPI document',
        security: access.none,
        response: {
          200: jsonAnswer('The document.', Type.Object({}, { additionalProperties: true })),
          ...NOT_MODIFIED,
          ...errors(),
        },
      },
    },
    async (request, reply) => {
      document ??= JSON.stringify(app.swagger());
      reply.header('cache-control', 'public, max-age=300').type('application/json; charset=utf-8');
      return sendPublicText(request, reply, document);
    },
  );
}
