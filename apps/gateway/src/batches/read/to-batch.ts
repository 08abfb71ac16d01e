import type { Batch } from '@eloquentpoll/contracts';
import type { StoredBatch } from '@eloquentpoll/storage';
import type { Config } from '../../config/config.ts';

export function toBatch({ baseUrl }: Pick<Config, 'baseUrl'>, batch: StoredBatch): Batch {
  const { id, endedAt, total, running, succeeded, partial, failed, notRun } = batch;
  const path = `${baseUrl}/api/batches/${id}`;
  const wereCanceled = batch.notRunReason === 'canceled' ? notRun : 0;
  return {
    batch_id: id,
    status: batch.status,
    service_tier: 'flex',
    counts: {
      total,
      waiting: endedAt ? 0 : total - running - succeeded - partial - failed - batch.canceled,
      running,
      success: succeeded,
      partial,
      failed,
      canceled: batch.canceled + wereCanceled,
      not_run: notRun - wereCanceled,
    },
    not_run_reason: batch.notRunReason,
    skipped: batch.skipped,
    has_gold: batch.hasGold,
    cost_usd: usd(batch.costU),
    reserved_usd: usd(batch.reservedU),
    max_cost_usd: batch.maxCostU === null ? null : usd(batch.maxCostU),
    metadata: batch.metadata ?? {},
    created_at: batch.createdAt.toISOString(),
    expires_at: batch.expiresAt.toISOString(),
    ended_at: endedAt?.toISOString() ?? null,
    status_url: path,
    results_url: `${path}/results`,
    report_url: batch.hasGold ? `${path}/report` : null,
  };
}

const usd = (microUsd: bigint): number => Number(microUsd) / 1e6;
