import { HistoryQuery, HistoryResult, LIMITS } from '@eloquentpoll/contracts';
import { readHistory } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, jsonAnswer } from '../../http/answers.ts';
import type { PollsContext } from '../context.ts';
import { toHistoryResult } from '../read/public-result.ts';

/** GET /api/results: the caller's results, page by page. */
export function historyRoute(app: FastifyInstance, { storage }: PollsContext): void {
  app.get<{ Querystring: HistoryQuery }>(
    '/api/results',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'listResults',
        tags: ['Results'],
        summary: 'List your results',
        security: access.session,
        querystring: HistoryQuery,
        response: {
          200: jsonAnswer('One page.', Type.Array(Type.Ref(HistoryResult), { maxItems: LIMITS.history.max })),
          ...errors('validation_error', 'authentication_required'),
        },
      },
    },
    async (request): Promise<HistoryResult[]> => {
      const { limit = LIMITS.history.default, offset = 0 } = request.query;
      // Postgres counts to 2^63, an offset of the wire may be larger.
      const skipped = Math.min(offset, Number.MAX_SAFE_INTEGER);
      return (await readHistory(storage, accountOf(request), limit, skipped)).map(toHistoryResult);
    },
  );
}
