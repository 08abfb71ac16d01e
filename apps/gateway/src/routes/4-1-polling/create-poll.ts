import { PollRequest, PollResponse } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../../context.ts';
import { access } from '../../plugins/auth.ts';
import { markReplayed } from '../../plugins/idempotency-key.ts';
import { awaitPoll } from '../../polls/await-poll.ts';
import { readPollOrder } from '../../polls/poll-order.ts';
import { submissionOf } from '../../polls/submission.ts';
import { errors, json, NEEDS_KEY, READS_BODY } from '../answers.ts';
import { goneSignal } from '../gone-signal.ts';

/** POST /api/poll: runs a poll and answers with its result. */
export function createPoll(app: FastifyInstance, context: Context): void {
  app.post(
    '/api/poll',
    {
      config: { operation: 'poll', idempotent: true },
      schema: {
        operationId: 'createPoll',
        tags: ['Polling'],
        summary: 'Run a poll and wait for its result',
        description:
          'The answer comes as soon as the outcome is certain enough. A poll whose caller leaves goes on and is stored.',
        security: access.bearer,
        body: Type.Ref(PollRequest),
        response: {
          200: json('The result.', PollResponse),
          ...errors(
            ...READS_BODY,
            ...NEEDS_KEY,
            'invalid_preset',
            'insufficient_balance',
            'idempotency_key_reused',
            'poll_execution_failed',
          ),
        },
      },
    },
    async (request, reply): Promise<PollResponse> => {
      const submission = submissionOf(context, request, readPollOrder(request.body), 'poll');
      const { result, joined } = await awaitPoll(context, submission, goneSignal(reply));
      if (joined) markReplayed(reply);
      return result;
    },
  );
}
