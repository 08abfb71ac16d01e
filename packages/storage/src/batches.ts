import type { BatchSkipped, BatchStatus, Metadata, NotRunReason, PollResponse } from '@eloquentpoll/contracts';
import { readStored, withCharges } from '@eloquentpoll/polls';
import { sql } from 'kysely';
import type { Queries, Storage } from './open-storage.ts';
import { chargesOf, isResultInTime } from './results.ts';
import type { BatchRowsTable } from './tables/batches.ts';
import { repeatable } from './transaction.ts';

// Batches as their account reads them. A batch that is still being uploaded or was deleted is not visible.

export interface StoredBatch {
  id: string;
  accountId: string;
  status: BatchStatus;
  metadata: Metadata | null;
  maxCostU: bigint | null;
  reservedU: bigint;
  costU: bigint;
  hasGold: boolean;
  skipped: BatchSkipped;
  total: number;
  running: number;
  succeeded: number;
  partial: number;
  failed: number;
  canceled: number;
  /** Once the batch has ended: rows that never had a poll. */
  notRun: number;
  notRunReason: NotRunReason | null;
  createdAt: Date;
  expiresAt: Date;
  endedAt: Date | null;
}

const shown = ({ db }: Queries) =>
  db
    .selectFrom('batches')
    .where('status', 'not in', ['loading', 'deleted'])
    .select([
      'id',
      'account_id as accountId',
      'metadata',
      'max_cost_u as maxCostU',
      'reserved_u as reservedU',
      'cost_u as costU',
      'has_gold as hasGold',
      'total',
      'running',
      'succeeded',
      'partial',
      'failed',
      'canceled',
      'not_run as notRun',
      'not_run_reason as notRunReason',
      'created_at as createdAt',
      'ended_at as endedAt',
      sql<BatchStatus>`status`.as('status'),
      sql<BatchSkipped>`skipped`.as('skipped'),
      sql<Date>`expires_at`.as('expiresAt'),
    ]);

/** Null if the account has no such batch. */
export async function findBatch(queries: Queries, accountId: string, batchId: string): Promise<StoredBatch | null> {
  const row = await shown(queries).where('id', '=', batchId).where('account_id', '=', accountId).executeTakeFirst();
  return row ?? null;
}

export interface BatchPageTerms {
  limit: number;
  status?: BatchStatus | undefined;
  /** Continues from this batch of the account, without including it. */
  from?: { batchId: string; direction: 'older' | 'newer' } | undefined;
}

/** Newest first; `hasMore` refers to the direction of the page. Null if `from` is not a batch of the account. */
export async function listBatches(
  queries: Queries,
  accountId: string,
  { limit, status, from }: BatchPageTerms,
): Promise<{ batches: StoredBatch[]; hasMore: boolean } | null> {
  const isOlder = from?.direction !== 'newer';
  let page = shown(queries).where('account_id', '=', accountId);
  if (status) page = page.where('status', '=', status);
  if (from) {
    const position = await queries.db
      .selectFrom('batches')
      // As text: a Date has no microseconds.
      .select(sql<string>`created_at::text`.as('createdAt'))
      .where('id', '=', from.batchId)
      .where('account_id', '=', accountId)
      .executeTakeFirst();
    if (!position) return null;
    const side = isOlder ? sql`<` : sql`>`;
    page = page.where(sql<boolean>`(created_at, id) ${side} (${position.createdAt}::timestamptz, ${from.batchId})`);
  }
  const direction = isOlder ? 'desc' : 'asc';
  const found = await page
    .orderBy('created_at', direction)
    .orderBy('id', direction)
    .limit(limit + 1)
    .execute();
  const batches = found.slice(0, limit);
  if (!isOlder) batches.reverse();
  return { batches, hasMore: found.length > limit };
}

export interface BatchLine {
  line: number;
  customId: string;
  gold: string | null;
  pollId: string | null;
  /** Null for a row that was not run. Rows that wait or run are not listed. */
  outcome: BatchRowsTable['outcome'];
  /** The error code of a row that failed without a poll. */
  error: string | null;
  detail: PollResponse | null;
}

/** Ended rows after `afterLine`, with their results. `isOver`: the batch, and so every row, has ended. */
export async function readBatchLines(
  { db }: Queries,
  batchId: string,
  { afterLine, limit, isOver }: { afterLine: number; limit: number; isOver: boolean },
): Promise<BatchLine[]> {
  const rows = await db
    // Limit before the join: with statistics from before the upload, the rest of the batch would be joined and sorted.
    .selectFrom((batch) =>
      batch
        .selectFrom('batch_rows')
        .select(['line', 'custom_id', 'gold', 'poll_id', 'outcome', 'error'])
        .where('batch_id', '=', batchId)
        .where('line', '>', afterLine)
        .$if(!isOver, (query) => query.where('outcome', 'is not', null))
        .orderBy('line')
        .limit(limit)
        .as('r'),
    )
    .leftJoin('results', (join) =>
      join.onRef('results.poll_id', '=', 'r.poll_id').on('emptied_at', 'is', null).on(isResultInTime),
    )
    .select(['r.line', 'r.custom_id', 'r.gold', 'r.poll_id', 'r.outcome', 'r.error'])
    .select(['detail', 'votes_u', 'failed_calls_u'])
    .orderBy('r.line')
    .execute();
  return rows.map(({ line, custom_id, gold, poll_id, outcome, error, detail, votes_u, failed_calls_u }) => ({
    line,
    customId: custom_id,
    gold,
    pollId: poll_id,
    outcome,
    error,
    detail:
      detail && withCharges(readStored(detail).response, chargesOf({ votes_u, failed_calls_u: failed_calls_u ?? 0n })),
  }));
}

/**
 * Starts no more rows of the batch and asks its runner to cancel running polls. Null if the account has no such batch.
 */
export const cancelBatch = ({ db }: Storage, accountId: string, batchId: string): Promise<BatchStatus | null> =>
  repeatable(async () => {
    const { rows } = await sql<{ status: BatchStatus | null }>`
      select cancel_batch(${batchId}, ${accountId}) as status`.execute(db);
    return rows[0]!.status;
  });

/** How many rows' polls expire in one statement, which then takes some tenths of a second. */
const EXPIRED_AT_ONCE = 5_000;

/**
 * Deletes a batch with its polls: none of them can be read once this resolves. `open`: it has not ended and is kept.
 * Null if the account has no such batch.
 */
export async function deleteBatch(
  { db }: Storage,
  accountId: string,
  batchId: string,
): Promise<'deleted' | 'open' | null> {
  for (let line: number | null = -1; line !== null; ) {
    const after: number = line;
    line = await repeatable(async () => {
      const { rows } = await sql<{ last: number | null }>`
        select expire_batch_polls(${batchId}, ${accountId}, ${after}, ${EXPIRED_AT_ONCE}) as last`.execute(db);
      return rows[0]!.last;
    });
  }
  return repeatable(async () => {
    const { rows } = await sql<{ outcome: 'deleted' | 'open' | null }>`
      select delete_batch(${batchId}, ${accountId}) as outcome`.execute(db);
    return rows[0]!.outcome;
  });
}
