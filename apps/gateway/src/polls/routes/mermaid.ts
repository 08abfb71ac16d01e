import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, NOT_MODIFIED, textAnswer } from '../../http/answers.ts';
import { sendPublicText } from '../../http/send-tagged.ts';
import type { PollsContext } from '../context.ts';
import { RESULT_HEADERS, resultWithId } from '../read/find-result.ts';
import { toMermaid } from '../read/to-mermaid.ts';

/** GET /api/graph/mermaid/{pollId}: a result as a diagram, for anyone with its id. */
export function mermaidRoute(app: FastifyInstance, context: PollsContext): void {
  app.get<{ Params: { pollId: string } }>(
    '/api/graph/mermaid/:pollId',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'getMermaid',
        tags: ['Results'],
        summary: 'Get a result as a Mermaid diagram',
        security: access.none,
        params: Type.Object({ pollId: Type.String({ description: 'The `poll_id` of a result.' }) }),
        response: { 200: textAnswer('The diagram.', 'text/plain'), ...NOT_MODIFIED, ...errors('poll_not_found') },
      },
    },
    async (request, reply) => {
      const result = await resultWithId(context, request.params.pollId, 'poll_not_found');
      reply.headers(RESULT_HEADERS).type('text/plain; charset=utf-8');
      return sendPublicText(request, reply, toMermaid(result.detail));
    },
  );
}
