import type { BatchSkipped, BatchStatus, Metadata, NotRunReason, PollResponse } from '@eloquentpoll/contracts';
import { readStored, withCharges } from '@eloquentpoll/polls';
import { sql } from 'kysely';
import type { Queries, Storage } from './open-storage.ts';
import { chargesOf, isResultInTime } from './results.ts';
import type { BatchRowsTable } from './tables/batches.ts';
import { repeatable } from './transaction.ts';

// Batches as their account reads them. One that is being uploaded, or was deleted, is not there.

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
  /** Once it has ended: rows that never had a poll. */
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

/** Null when the account has no such batch. */
export async function findBatch(queries: Queries, accountId: string, batchId: string): Promise<StoredBatch | null> {
  const row = await shown(queries).where('id', '=', batchId).where('account_id', '=', accountId).executeTakeFirst();
  return row ?? null;
}

export interface BatchPageTerms {
  limit: number;
  status?: BatchStatus | undefined;
  /** From this batch of the account on, without it. */
  from?: { batchId: string; direction: 'older' | 'newer' } | undefined;
}

/** Newest first; `hasMore` in the direction of the page. Null when `from` names no batch of the account. */
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
      // As a text: a Date has no microseconds.
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
  /** Null of a row that was not run; those that wait or run are no lines. */
  outcome: BatchRowsTable['outcome'];
  /** The code of the error of a row that failed without a poll. */
  error: string | null;
  detail: PollResponse | null;
}

/** Rows after `afterLine` that have ended, with their results. `isOver`: the batch has, and with it every row. */
export async function readBatchLines(
  { db }: Queries,
  batchId: string,
  { afterLine, limit, isOver }: { afterLine: number; limit: number; isOver: boolean },
): Promise<BatchLine[]> {
  const rows = await db
    // Limited before it is joined: with statistics from before its upload the rest of the batch would be joined and sorted.
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

/** Asks that nothing more of it is begun, and what runs is canceled. Null when the account has no such batch. */
export const cancelBatch = ({ db }: Storage, accountId: string, batchId: string): Promise<BatchStatus | null> =>
  repeatable(async () => {
    const { rows } = await sql<{ status: BatchStatus | null }>`
      select cancel_batch(${batchId}, ${accountId}) as status`.execute(db);
    return rows[0]!.status;
  });

/** Rows whose polls are ended in one statement: some tenths of a second. */
const EXPIRED_AT_ONCE = 5_000;

/**
 * With its polls: none of them can be read when this resolves. `open`: it has not ended, and stays. Null when the account
 * has no such batch.
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
