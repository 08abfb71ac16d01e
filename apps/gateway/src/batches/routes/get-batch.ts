import { Batch } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { goneSignal } from '../../http/gone-signal.ts';
import { preferredWait } from '../../http/validation/preferred-wait.ts';
import { anyHeaders } from '../../http/validation/validator.ts';
import type { BatchesContext } from '../context.ts';
import { toBatch } from '../read/to-batch.ts';
import { waitForEnd } from '../read/wait-for-end.ts';
import { BatchPath, ownBatch } from './batch-path.ts';

const MAX_WAIT_S = 30;

/** GET /api/batches/{batchId}: counts and cost so far, at once or when the batch has ended. */
export function getBatchRoute(app: FastifyInstance, context: BatchesContext): void {
  app.get<{ Params: BatchPath; Headers: { prefer?: string } }>(
    '/api/batches/:batchId',
    {
      config: { operation: 'account' },
      validatorCompiler: anyHeaders,
      schema: {
        operationId: 'getBatch',
        tags: ['Batches'],
        summary: 'Get a batch',
        description:
          'With `Prefer: wait=30`, the response is sent when the batch has ended, at the latest after 30 seconds.',
        security: access.sessionOrBearer,
        params: BatchPath,
        headers: Type.Object({
          prefer: Type.Optional(
            Type.String({ description: `Seconds to wait for the end, at most ${MAX_WAIT_S}: \`wait=30\`.` }),
          ),
        }),
        response: { 200: jsonAnswer('The batch.', Batch), ...errors(...NEEDS_KEY, 'batch_not_found') },
      },
    },
    async (request, reply): Promise<Batch> => {
      const stored = await ownBatch(context, request);
      const seconds = preferredWait(request.headers.prefer, MAX_WAIT_S);
      if (seconds !== null) reply.header('preference-applied', `wait=${seconds}`);
      const stop = AbortSignal.any([goneSignal(reply), context.shutdown.closing]);
      const batch = seconds ? await waitForEnd(context.storage, stored, seconds * 1_000, stop) : stored;
      if (!batch) throw new ApiError('batch_not_found');
      reply.header('cache-control', 'private, no-cache');
      if (batch.endedAt === null) reply.header('retry-after', '5');
      return toBatch(context.config, batch);
    },
  );
}
