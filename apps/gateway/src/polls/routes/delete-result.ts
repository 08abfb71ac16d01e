import { PollDeleted } from '@eloquentpoll/contracts';
import { isPollId, isResultId } from '@eloquentpoll/polls';
import { deletePoll, type PollDeletion } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY, READS_BODY } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';
import { forgetDeleted } from '../run/forget-deleted.ts';

/** DELETE /api/results/{resultId}: deletes a poll with its result. */
export function deleteResultRoute(app: FastifyInstance, context: PollsContext): void {
  app.delete<{ Params: { resultId: string } }>(
    '/api/results/:resultId',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'deleteResult',
        tags: ['Results'],
        summary: 'Delete a poll and its result',
        description:
          'Question, options, reasons, metadata, feedback and receipt are deleted at once, and the public addresses answer 404. The charge stays in the ledger and in totals. For a running poll the response is 409 `poll_running`: cancel it first.',
        security: access.sessionOrBearer,
        params: Type.Object({
          resultId: Type.String({ description: 'The id of the result, `EP-...`, or the `session_id`, `ps_...`.' }),
        }),
        response: {
          200: jsonAnswer('It is deleted.', PollDeleted),
          ...errors(...READS_BODY, ...NEEDS_KEY, 'forbidden_origin', 'result_not_found', 'poll_running'),
        },
      },
    },
    async (request): Promise<PollDeleted> => {
      const { resultId: id } = request.params;
      const isId = isPollId(id) || isResultId(id);
      const deletion: PollDeletion = isId
        ? await deletePoll(context.storage, accountOf(request), id)
        : { outcome: 'unknown' };
      switch (deletion.outcome) {
        case 'unknown':
          throw new ApiError('result_not_found');
        case 'running':
          throw new ApiError('poll_running', {
            detail: `The poll is still running: cancel it with POST /api/polls/${deletion.pollId}/cancel, or wait for its end.`,
          });
        case 'deleted':
          await forgetDeleted(context, [deletion.pollId]);
          return { deleted: true, session_id: deletion.pollId };
      }
    },
  );
}
