import { readBatchRows, readCloseRows, type StoredBatch, type StoredBatchRow } from '@eloquentpoll/storage';
import { toBatch } from '../../../batches/read/to-batch.ts';
import type { PagesContext } from '../../context.ts';
import { historyRows } from '../read-polls.ts';
import type { ShownBatch, ShownBatchRow } from './batch-page.ts';

const MAX_CLOSE = 25;
const PAGE = 50;

/** `afterLine`: the line before the first row to show. */
export async function readBatchView(
  context: PagesContext,
  stored: StoredBatch,
  afterLine: number,
): Promise<ShownBatch> {
  const { storage, config } = context;
  const [close, rows] = await Promise.all([
    readCloseRows(storage, stored, MAX_CLOSE),
    readBatchRows(storage, stored.id, { afterLine, limit: PAGE + 1 }),
  ]);
  return {
    batch: toBatch(config, stored),
    close: await withPolls(context, stored.accountId, close),
    rows: await withPolls(context, stored.accountId, rows.slice(0, PAGE)),
    afterLine,
    hasMore: rows.length > PAGE,
  };
}

async function withPolls(
  context: PagesContext,
  accountId: string,
  rows: readonly StoredBatchRow[],
): Promise<ShownBatchRow[]> {
  const polls = await historyRows(
    context,
    accountId,
    rows.flatMap(({ pollId }) => pollId ?? []),
  );
  const known = new Map(polls.map((poll) => [poll.pollId, poll]));
  return rows.map((row) => ({ ...row, poll: known.get(row.pollId ?? '') ?? null }));
}
