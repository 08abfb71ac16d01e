import { Batch } from '@eloquentpoll/contracts';
import { cancelBatch } from '@eloquentpoll/storage';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY, READS_BODY } from '../../http/answers.ts';
import type { BatchesContext } from '../context.ts';
import { toBatch } from '../read/to-batch.ts';
import { BatchPath, ownBatch } from './batch-path.ts';

/** POST /api/batches/{batchId}/cancel: starts no further rows. */
export function cancelBatchRoute(app: FastifyInstance, context: BatchesContext): void {
  app.post<{ Params: BatchPath }>(
    '/api/batches/:batchId/cancel',
    {
      config: { operation: 'account', idempotent: 'by nature' },
      schema: {
        operationId: 'cancelBatch',
        tags: ['Batches'],
        summary: 'Cancel a batch',
        description:
          'Waiting rows are not run, and running polls are canceled as by POST /api/polls/{id}/cancel: votes received by then are stored and charged. The batch is `canceling` until the last poll has ended, then `canceled`. A batch that has ended stays as it is.',
        security: access.sessionOrBearer,
        params: BatchPath,
        response: {
          200: jsonAnswer('The batch.', Batch),
          ...errors(...READS_BODY, ...NEEDS_KEY, 'forbidden_origin', 'batch_not_found'),
        },
      },
    },
    async (request): Promise<Batch> => {
      const { id, accountId } = await ownBatch(context, request);
      await cancelBatch(context.storage, accountId, id);
      return toBatch(context.config, await ownBatch(context, request));
    },
  );
}
