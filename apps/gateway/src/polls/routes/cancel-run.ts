import { PollSession } from '@eloquentpoll/contracts';
import { isPollId } from '@eloquentpoll/polls';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY, READS_BODY } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { goneSignal } from '../../http/gone-signal.ts';
import type { PollsContext } from '../context.ts';
import { toSession } from '../read/to-wire.ts';
import { cancelRun } from '../run/cancel-run.ts';
import { RunPath } from './run-path.ts';

/** POST /api/polls/{id}/cancel: stops a run; no further model is asked. */
export function cancelRunRoute(app: FastifyInstance, context: PollsContext): void {
  app.post<{ Params: RunPath }>(
    '/api/polls/:id/cancel',
    {
      config: { operation: 'account', idempotent: 'by nature' },
      schema: {
        operationId: 'cancelSession',
        tags: ['Polling'],
        summary: 'Cancel a poll',
        description:
          'No further models are asked, and votes received by then are charged. With votes, the poll is `completed`, and its result `partial` if missing votes could have changed the outcome. Without votes, it is `failed`, and its result is 422 `poll_canceled`. A poll that has ended stays as it is. The response waits up to 5 seconds for the end.',
        security: access.sessionOrBearer,
        params: RunPath,
        response: {
          200: jsonAnswer('The session. Its status is `running` only if the end takes longer.', PollSession),
          ...errors(...READS_BODY, ...NEEDS_KEY, 'forbidden_origin', 'session_not_found'),
        },
      },
    },
    async (request, reply): Promise<PollSession> => {
      const { id } = request.params;
      const stop = AbortSignal.any([goneSignal(reply), context.shutdown.closing]);
      const run = isPollId(id) ? await cancelRun(context, accountOf(request), id, stop) : null;
      if (!run) throw new ApiError('session_not_found');
      return toSession(context.config, run);
    },
  );
}
