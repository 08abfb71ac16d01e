import { PollResponse, SessionRunning } from '@eloquentpoll/contracts';
import { findResultOfPoll } from '@eloquentpoll/storage';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, json, NEEDS_KEY } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';
import { openSession } from '../read/open-run.ts';
import { statusUrl } from '../read/to-wire.ts';
import { whyFailed } from '../read/why-failed.ts';
import { SessionPath } from './run-path.ts';

/** GET /api/polls/{id}/result: what a session came to, from what is stored. */
export function sessionResult(app: FastifyInstance, context: PollsContext): void {
  app.get<{ Params: SessionPath }>(
    '/api/polls/:id/result',
    {
      config: { operation: 'session' },
      schema: {
        operationId: 'getSessionResult',
        tags: ['Polling'],
        summary: 'What a poll came to',
        security: access.bearer,
        params: SessionPath,
        response: {
          200: json('The result.', PollResponse),
          202: json('The poll is still running.', SessionRunning),
          ...errors(...NEEDS_KEY, 'session_not_found', 'poll_failed', 'budget_too_small'),
        },
      },
    },
    async (request, reply) => {
      const { pollId, status } = await openSession(context, request, request.params.id);
      if (status === 'running') {
        reply.code(202).header('retry-after', '1');
        return { session_id: pollId, status, status_url: statusUrl(context.config, pollId) };
      }
      const result = await findResultOfPoll(context.storage, pollId);
      if (status === 'failed') throw new ApiError(whyFailed(result?.detail ?? null));
      if (!result) throw new ApiError('internal_error', { cause: new Error('a completed poll has no result') });
      return result.detail;
    },
  );
}
