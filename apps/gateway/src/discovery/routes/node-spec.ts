import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, NOT_MODIFIED } from '../../http/answers.ts';
import { sendPublicText } from '../../http/send-tagged.ts';
import type { DiscoveryContext } from '../context.ts';
import { nodeSpec } from '../documents/node-spec.ts';

/** GET /api/graph/node-spec: a poll as a node for agent graph frameworks. */
export function nodeSpecRoute(app: FastifyInstance, { config }: DiscoveryContext): void {
  const body = JSON.stringify(nodeSpec(config.baseUrl));
  app.get(
    '/api/graph/node-spec',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'getNodeSpec',
        tags: ['Results'],
        summary: 'Get tool definitions of a poll',
        security: access.none,
        response: {
          200: jsonAnswer('The description.', Type.Object({}, { additionalProperties: true })),
          ...NOT_MODIFIED,
          ...errors(),
        },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'public, max-age=300').type('application/json; charset=utf-8');
      return sendPublicText(request, reply, body);
    },
  );
}
