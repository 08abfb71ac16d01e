import { findBatch, type Storage, type StoredBatch } from '@eloquentpoll/storage';
import { batchReport } from './count-rows.ts';

/** Finishes the report of a batch that has ended, so that it exists before the batch's polls expire. */
export async function finishReport(
  storage: Storage,
  { id, accountId }: Pick<StoredBatch, 'id' | 'accountId'>,
  stop: AbortSignal,
): Promise<void> {
  const batch = await findBatch(storage, accountId, id);
  if (!batch?.hasGold || batch.endedAt === null) return;
  while (!stop.aborted && !(await batchReport(storage, batch)).complete);
}
