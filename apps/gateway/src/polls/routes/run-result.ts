import { PollResponse, SessionRunning } from '@eloquentpoll/contracts';
import { findResultOfPoll } from '@eloquentpoll/storage';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';
import { authorizeRun } from '../read/authorize-run.ts';
import { readOwnRunNow } from '../read/read-run.ts';
import { statusUrl } from '../read/to-wire.ts';
import { whyFailed, whyWithoutResult } from '../read/why-failed.ts';
import { RunPath } from './run-path.ts';

/** GET /api/polls/{id}/result: the stored result of a run. */
export function runResultRoute(app: FastifyInstance, context: PollsContext): void {
  app.get<{ Params: RunPath }>(
    '/api/polls/:id/result',
    {
      config: { operation: 'session' },
      schema: {
        operationId: 'getSessionResult',
        tags: ['Polling'],
        summary: 'Get poll result',
        security: access.bearer,
        params: RunPath,
        response: {
          200: jsonAnswer('The result.', PollResponse),
          202: jsonAnswer('The poll is still running.', SessionRunning),
          ...errors(...NEEDS_KEY, 'session_not_found', 'poll_failed', 'poll_canceled', 'budget_too_small'),
        },
      },
    },
    async (request, reply) => {
      const authorized = await authorizeRun(context, request, request.params.id);
      const { pollId, status } = await readOwnRunNow(context, authorized);
      if (status === 'running') {
        reply.code(202).header('retry-after', '1');
        return { session_id: pollId, status, status_url: statusUrl(context.config, pollId) };
      }
      const result = await findResultOfPoll(context.storage, pollId);
      if (status === 'failed') {
        const { code, ...why } = result
          ? whyFailed(result.detail)
          : await whyWithoutResult(context, pollId, 'poll_failed');
        throw new ApiError(code, why);
      }
      // The poll was just deleted, and this process has not been informed yet.
      if (!result) throw new ApiError('session_not_found');
      return result.detail;
    },
  );
}
