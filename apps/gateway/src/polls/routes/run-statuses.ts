import { LIMITS, SessionStatuses, StatusesQuery } from '@eloquentpoll/contracts';
import { isPollId } from '@eloquentpoll/polls';
import { findRunStates } from '@eloquentpoll/storage';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY } from '../../http/answers.ts';
import { invalid } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';

/** GET /api/polls/status: the state of many runs in one request. */
export function runStatusesRoute(app: FastifyInstance, { storage }: PollsContext): void {
  app.get<{ Querystring: StatusesQuery }>(
    '/api/polls/status',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'getSessionStatuses',
        tags: ['Polling'],
        summary: 'Get the status of many polls',
        description: `At most ${LIMITS.statuses} ids at once. Ids of other accounts are treated like ids that do not exist.`,
        security: access.sessionOrBearer,
        querystring: StatusesQuery,
        response: { 200: jsonAnswer('The statuses.', SessionStatuses), ...errors(...NEEDS_KEY) },
      },
    },
    async (request): Promise<SessionStatuses> => {
      const ids = [...new Set(request.query.ids.split(',').map((id) => id.trim()))].filter((id) => id !== '');
      if (ids.length === 0 || ids.length > LIMITS.statuses) {
        throw invalid([{ pointer: '#/ids', detail: `ids must be 1 to ${LIMITS.statuses} different ids` }]);
      }
      const accountId = accountOf(request);
      const runs = await findRunStates(storage, ids.filter(isPollId));
      const own = new Map(runs.filter((run) => run.accountId === accountId).map((run) => [run.pollId, run]));
      return {
        polls: ids.flatMap((id) => {
          const run = own.get(id);
          return run ? { session_id: id, status: run.status, result_id: run.resultId } : [];
        }),
        not_found: ids.filter((id) => !own.has(id)),
      };
    },
  );
}
