import { ResultDetail } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, NOT_MODIFIED } from '../../http/answers.ts';
import { sendTagged } from '../../http/send-tagged.ts';
import type { PollsContext } from '../context.ts';
import { RESULT_HEADERS, resultWithId } from '../read/find-result.ts';
import { toResultDetail } from '../read/public-result.ts';

/** GET /api/results/{resultId}: a result without cost and owner, for anyone with its id. */
export function publicResultRoute(app: FastifyInstance, context: PollsContext): void {
  app.get<{ Params: { resultId: string } }>(
    '/api/results/:resultId',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'getResult',
        tags: ['Results'],
        summary: 'Get a public result',
        description: 'Contains neither costs nor the owner. A result never changes.',
        security: access.none,
        params: Type.Object({ resultId: Type.String({ description: 'For example EP-2026-11-20-0123456789abcdef.' }) }),
        response: { 200: jsonAnswer('The result.', ResultDetail), ...NOT_MODIFIED, ...errors('result_not_found') },
      },
    },
    async (request, reply) => {
      const result = await resultWithId(context, request.params.resultId);
      reply.headers(RESULT_HEADERS).type('application/json; charset=utf-8');
      return sendTagged(request, reply, JSON.stringify(toResultDetail(result)));
    },
  );
}
