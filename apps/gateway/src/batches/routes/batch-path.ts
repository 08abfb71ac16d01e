import { isBatchId } from '@eloquentpoll/polls';
import { findBatch, type StoredBatch } from '@eloquentpoll/storage';
import { type Static, Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { accountOf } from '../../http/access.ts';
import { ApiError } from '../../http/api-error.ts';
import type { BatchesContext } from '../context.ts';

export const BatchPath = Type.Object({ batchId: Type.String({ description: 'The `batch_id`.' }) });
export type BatchPath = Static<typeof BatchPath>;

/** The batch in the path, if it belongs to the caller's account. */
export async function ownBatch(
  { storage }: Pick<BatchesContext, 'storage'>,
  request: FastifyRequest<{ Params: BatchPath }>,
): Promise<StoredBatch> {
  const { batchId } = request.params;
  const batch = isBatchId(batchId) ? await findBatch(storage, accountOf(request), batchId) : null;
  if (!batch) throw new ApiError('batch_not_found');
  return batch;
}
