import { FeedbackReceipt, FeedbackRequest } from '@eloquentpoll/contracts';
import { isResultId } from '@eloquentpoll/polls';
import { storeFeedback } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY, READS_BODY } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';

/** POST /api/feedback: one opinion per account and poll; the latest counts. */
export function giveFeedbackRoute(app: FastifyInstance, { storage }: PollsContext): void {
  app.post<{ Body: FeedbackRequest }>(
    '/api/feedback',
    {
      config: { operation: 'account', idempotent: 'by nature' },
      schema: {
        operationId: 'giveFeedback',
        tags: ['Feedback'],
        summary: 'Give feedback',
        description:
          'For any poll whose id you know, also of other accounts. Further feedback on the same poll replaces your first and keeps its `feedback_id`. Notes are never shown.',
        security: access.bearer,
        body: Type.Ref(FeedbackRequest),
        response: {
          201: jsonAnswer('It was recorded.', FeedbackReceipt),
          ...errors(...READS_BODY, ...NEEDS_KEY, 'poll_not_found'),
        },
      },
    },
    async (request, reply): Promise<FeedbackReceipt> => {
      const { poll_id: resultId, outcome_correct, confidence, notes } = request.body;
      const opinion = {
        accountId: accountOf(request),
        resultId,
        outcomeCorrect: outcome_correct ?? null,
        confidence: confidence ?? null,
        notes: notes ?? null,
      };
      const feedbackId = isResultId(resultId) ? await storeFeedback(storage, opinion) : null;
      if (feedbackId === null) throw new ApiError('poll_not_found');
      reply.code(201);
      return { feedback_id: feedbackId, poll_id: resultId, recorded: true };
    },
  );
}
