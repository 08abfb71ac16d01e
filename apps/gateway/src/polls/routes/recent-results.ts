import { LIMITS, RecentResult } from '@eloquentpoll/contracts';
import { type Queries, readRecentResults } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, jsonAnswer } from '../../http/answers.ts';
import { LAG_HEADER } from '../../http/lagging-reads.ts';
import type { PollsContext } from '../context.ts';
import { toRecentResult } from '../read/public-result.ts';

/** GET /api/results/recent: the caller's newest results. */
export function recentResultsRoute(app: FastifyInstance, { lists }: PollsContext): void {
  app.get(
    '/api/results/recent',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'listRecentResults',
        tags: ['Results'],
        summary: `List your last ${LIMITS.recent} results`,
        security: access.session,
        response: {
          200: {
            ...jsonAnswer('Newest first.', Type.Array(Type.Ref(RecentResult), { maxItems: LIMITS.recent })),
            headers: LAG_HEADER,
          },
          ...errors('authentication_required'),
        },
      },
    },
    async (request, reply): Promise<RecentResult[]> => {
      const accountId = accountOf(request);
      const read = (queries: Queries) => readRecentResults(queries, accountId, LIMITS.recent);
      return (await lists.ofAccount(accountId, read, reply)).map(toRecentResult);
    },
  );
}
