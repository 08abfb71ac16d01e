import { PollSession, SessionRequest } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY, READS_BODY } from '../../http/answers.ts';
import { markReplayed } from '../../http/hooks/idempotency-key.ts';
import type { PollsContext } from '../context.ts';
import { readSessionOrder } from '../order/session-order.ts';
import { type RunView, viewOfStored } from '../read/run-view.ts';
import { toSession } from '../read/to-wire.ts';
import { submissionOf } from '../run/submission.ts';
import { submitPoll } from '../run/submit-poll.ts';

/** POST /api/polls: starts a poll and answers at once. */
export function startRunRoute(app: FastifyInstance, context: PollsContext): void {
  app.post(
    '/api/polls',
    {
      config: { operation: 'poll', idempotent: true },
      schema: {
        operationId: 'createSession',
        tags: ['Polling'],
        summary: 'Start a poll (asynchronous)',
        description:
          'The poll runs whether or not anyone follows it. One request to `status_url` with `Prefer: wait=30` is usually enough to wait for the end; `result_url` then has the result.',
        security: access.bearer,
        body: Type.Ref(SessionRequest),
        response: {
          202: jsonAnswer('The session; `Location` is its status.', PollSession),
          ...errors(
            ...READS_BODY,
            ...NEEDS_KEY,
            'invalid_preset',
            'insufficient_balance',
            'too_many_running',
            'provider_budget_reached',
            'polls_stopped',
            'not_configured',
            'idempotency_key_reused',
          ),
        },
      },
    },
    async (request, reply): Promise<PollSession> => {
      const submission = submissionOf(context, request, 'polls', { order: readSessionOrder(context, request.body) });
      const { pollId, joined } = await submitPoll(context, submission);
      if (joined) markReplayed(reply);
      const run = joined ?? newRun(pollId, submission.accountId);
      const { service_tier } = submission.order;
      const session = { ...toSession(context.config, run), ...(service_tier && { service_tier }) };
      reply.code(202).header('location', session.status_url);
      if (run.status === 'running') reply.header('retry-after', service_tier === 'flex' ? '30' : '1');
      return session;
    },
  );
}

const newRun = (pollId: string, accountId: string | null): RunView =>
  viewOfStored({ pollId, accountId, status: 'running', resultId: null });
