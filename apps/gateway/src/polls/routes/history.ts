import { HistoryQuery, HistoryResult, LIMITS } from '@eloquentpoll/contracts';
import { type Queries, readHistory } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, jsonAnswer } from '../../http/answers.ts';
import { LAG_HEADER } from '../../http/lagging-reads.ts';
import type { PollsContext } from '../context.ts';
import { toHistoryResult } from '../read/public-result.ts';

/** GET /api/results: the caller's results, page by page. */
export function historyRoute(app: FastifyInstance, { lists }: PollsContext): void {
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
          200: {
            ...jsonAnswer('One page.', Type.Array(Type.Ref(HistoryResult), { maxItems: LIMITS.history.max })),
            headers: LAG_HEADER,
          },
          ...errors('validation_error', 'authentication_required'),
        },
      },
    },
    async (request, reply): Promise<HistoryResult[]> => {
      const { limit = LIMITS.history.default, offset = 0 } = request.query;
      // An offset of the API can exceed 2^63, the limit in Postgres.
      const skipped = Math.min(offset, Number.MAX_SAFE_INTEGER);
      const accountId = accountOf(request);
      const read = (queries: Queries) => readHistory(queries, accountId, limit, skipped);
      return (await lists.ofAccount(accountId, read, reply)).map(toHistoryResult);
    },
  );
}
