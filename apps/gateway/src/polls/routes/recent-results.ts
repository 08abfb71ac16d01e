import { LIMITS, RecentResult } from '@eloquentpoll/contracts';
import { readRecentResults } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, jsonAnswer } from '../../http/answers.ts';
import type { PollsContext } from '../context.ts';
import { toRecentResult } from '../read/public-result.ts';

/** GET /api/results/recent: the caller's newest results. */
export function recentResultsRoute(app: FastifyInstance, { storage }: PollsContext): void {
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
          200: jsonAnswer('Newest first.', Type.Array(Type.Ref(RecentResult), { maxItems: LIMITS.recent })),
          ...errors('authentication_required'),
        },
      },
    },
    async (request): Promise<RecentResult[]> =>
      (await readRecentResults(storage, accountOf(request), LIMITS.recent)).map(toRecentResult),
  );
}
