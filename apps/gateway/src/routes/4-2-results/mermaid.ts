import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../../context.ts';
import { access } from '../../plugins/auth.ts';
import { RESULT_HEADERS, resultWithId } from '../../polls/find-result.ts';
import { toMermaid } from '../../polls/to-mermaid.ts';
import { toPollResponse } from '../../polls/to-wire.ts';
import { errors, NOT_MODIFIED, text } from '../answers.ts';
import { sendTagged } from '../send-tagged.ts';

/** GET /api/graph/mermaid/{pollId}: a result as a diagram, for whoever holds its id. */
export function mermaid(app: FastifyInstance, context: Context): void {
  app.get<{ Params: { pollId: string } }>(
    '/api/graph/mermaid/:pollId',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'getMermaid',
        tags: ['Results'],
        summary: 'Votes and result as a Mermaid flowchart',
        security: access.none,
        params: Type.Object({ pollId: Type.String({ description: 'The `poll_id` of a result.' }) }),
        response: { 200: text('The diagram.', 'text/plain'), ...NOT_MODIFIED, ...errors('poll_not_found') },
      },
    },
    async (request, reply) => {
      const result = await resultWithId(context, request.params.pollId, 'poll_not_found');
      reply.headers(RESULT_HEADERS).type('text/plain; charset=utf-8');
      return sendTagged(request, reply, toMermaid(toPollResponse(result)));
    },
  );
}
