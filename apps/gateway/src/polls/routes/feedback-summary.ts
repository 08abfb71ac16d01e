import { FeedbackSummary } from '@eloquentpoll/contracts';
import { isResultId } from '@eloquentpoll/polls';
import { readFeedbackSummary, refuseMovedResult, type StoredFeedbackSummary } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer } from '../../http/answers.ts';
import type { PollsContext } from '../context.ts';

/** GET /api/feedback/{pollId}: the feedback on an outcome, without its authors. */
export function feedbackSummaryRoute(app: FastifyInstance, { storage }: PollsContext): void {
  app.get<{ Params: { pollId: string } }>(
    '/api/feedback/:pollId',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'getFeedback',
        tags: ['Feedback'],
        summary: 'Get feedback',
        description:
          '`accuracy_rate` is correct / (correct + incorrect), or null without feedback. Lists the newest 100 entries. An unknown poll has no feedback.',
        security: access.none,
        params: Type.Object({ pollId: Type.String({ description: 'For example EP-2026-11-20-0123456789abcdef.' }) }),
        response: { 200: jsonAnswer('The summary.', FeedbackSummary), ...errors('validation_error', 'account_moving') },
      },
    },
    async ({ params: { pollId } }): Promise<FeedbackSummary> => {
      if (!isResultId(pollId)) return toSummary(pollId, NOTHING);
      await refuseMovedResult(storage, pollId);
      return toSummary(pollId, await readFeedbackSummary(storage, pollId));
    },
  );
}

const NOTHING: StoredFeedbackSummary = { total: 0, correct: 0, incorrect: 0, entries: [] };

function toSummary(pollId: string, { total, correct, incorrect, entries }: StoredFeedbackSummary): FeedbackSummary {
  return {
    poll_id: pollId,
    total_feedback: total,
    correct,
    incorrect,
    accuracy_rate: correct + incorrect === 0 ? null : correct / (correct + incorrect),
    entries: entries.map((entry) => ({
      feedback_id: entry.feedbackId,
      outcome_correct: entry.outcomeCorrect,
      confidence: entry.confidence,
      created_at: entry.createdAt.toISOString(),
    })),
  };
}
