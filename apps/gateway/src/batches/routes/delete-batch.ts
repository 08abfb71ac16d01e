import { BatchDeleted } from '@eloquentpoll/contracts';
import { deleteBatch } from '@eloquentpoll/storage';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY, READS_BODY } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import type { BatchesContext } from '../context.ts';
import { BatchPath, ownBatch } from './batch-path.ts';

/** DELETE /api/batches/{batchId}: deletes a batch that has ended, with its rows. */
export function deleteBatchRoute(app: FastifyInstance, context: BatchesContext): void {
  app.delete<{ Params: BatchPath }>(
    '/api/batches/:batchId',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'deleteBatch',
        tags: ['Batches'],
        summary: 'Delete a batch',
        description:
          'Deletes a batch that has ended, with its rows, polls and results; their public addresses then answer 404. The charges stay in the ledger.',
        security: access.sessionOrBearer,
        params: BatchPath,
        response: {
          200: jsonAnswer('It is deleted.', BatchDeleted),
          ...errors(...READS_BODY, ...NEEDS_KEY, 'forbidden_origin', 'batch_not_found', 'batch_not_ended'),
        },
      },
    },
    async (request): Promise<BatchDeleted> => {
      const { id, accountId } = await ownBatch(context, request);
      if ((await deleteBatch(context.storage, accountId, id)) === 'open') throw new ApiError('batch_not_ended');
      return { batch_id: id, deleted: true };
    },
  );
}
