import type { BatchReport, PollResponse, PollSpec, Timing } from '@eloquentpoll/contracts';
import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';
import { isResultInTime } from './results.ts';
import type { BatchRowsTable } from './tables/batches.ts';

// The report of a batch so far, and the rows from which it is computed.

export interface GoldRow {
  line: number;
  gold: string | null;
  outcome: BatchRowsTable['outcome'];
  isCanceled: boolean;
  /** The same for rows with the same question, options and right answer. Below 2^48; null without a poll. */
  rowHash: number | null;
  /** The row's poll was deleted: nothing that its caller wrote is left. */
  isDeleted: boolean;
  /** The row's poll; null if it has no readable result. */
  poll: JudgedPoll | null;
}

export interface JudgedPoll {
  spec: Omit<PollSpec, 'question'>;
  votes: PollResponse['votes'];
  arrivals: NonNullable<Timing['arrivals']>;
  reason: PollResponse['termination_reason'];
  confidence: PollResponse['confidence'];
  asking: PollResponse['asking'] | null;
  /** What each vote was billed in micro-USD, if that is more than the votes themselves say. */
  votesU: readonly bigint[] | null;
}

/** Rows after `afterLine` in line order, ended or not. Without any text of a question. */
export async function readGoldRows(
  { db }: Queries,
  batchId: string,
  { afterLine, limit }: { afterLine: number; limit: number },
): Promise<GoldRow[]> {
  const rows = await db
    // Limit before the join, as in readBatchLines.
    .selectFrom((batch) =>
      batch
        .selectFrom('batch_rows')
        .select(['line', 'gold', 'outcome', 'poll_id', 'custom_id'])
        .where('batch_id', '=', batchId)
        .where('line', '>', afterLine)
        .orderBy('line')
        .limit(limit)
        .as('r'),
    )
    .leftJoin('polls as p', 'p.id', 'r.poll_id')
    .leftJoin('results', (join) =>
      join.onRef('results.poll_id', '=', 'r.poll_id').on('emptied_at', 'is', null).on(isResultInTime),
    )
    .select(['r.line', 'r.gold', 'r.outcome', 'p.canceled_at', 'results.votes_u'])
    .select([
      // Set by empty_polls. It works even after the partition with the poll was dropped.
      sql<boolean>`coalesce(r.custom_id = r.poll_id, false)`.as('isDeleted'),
      sql<
        number | null
      >`('x' || left(md5(jsonb_build_array(p.spec->'question', p.spec->'options', r.gold)::text), 12))::bit(48)::bigint::float8`.as(
        'rowHash',
      ),
      sql<JudgedPoll['spec'] | null>`p.spec - 'question'`.as('spec'),
      sql<JudgedPoll['votes'] | null>`results.detail->'votes'`.as('votes'),
      sql<JudgedPoll['arrivals'] | null>`results.detail->'timing'->'arrivals'`.as('arrivals'),
      sql<JudgedPoll['reason']>`results.detail->>'termination_reason'`.as('reason'),
      sql<JudgedPoll['confidence']>`results.detail->'confidence'`.as('confidence'),
      sql<JudgedPoll['asking']>`results.detail->'asking'`.as('asking'),
    ])
    .orderBy('r.line')
    .execute();
  return rows.map(
    ({ line, gold, outcome, canceled_at, isDeleted, rowHash, votes_u, spec, votes, arrivals, ...end }) => ({
      ...{ line, gold, outcome, isCanceled: canceled_at !== null, isDeleted, rowHash },
      poll: spec && votes && { ...end, spec, votes, arrivals: arrivals ?? [], votesU: votes_u },
    }),
  );
}

export interface StoredBatchReport {
  line: number;
  counted: number;
  /** The running sums as stored; null once the report is finished. */
  sums: object | null;
  report: BatchReport | null;
  countedAt: Date;
}

export async function findBatchReport({ db }: Queries, batchId: string): Promise<StoredBatchReport | null> {
  const row = await db
    .selectFrom('batch_reports')
    .select(['line', 'counted', 'sums', 'report', 'counted_at as countedAt'])
    .where('batch_id', '=', batchId)
    .executeTakeFirst();
  return row ?? null;
}

/** Stores sums that continue from `fromLine`, unless another process has counted further or the batch was deleted. */
export async function storeBatchReport(
  { db }: Queries,
  batchId: string,
  fromLine: number,
  { line, counted, sums, report }: Omit<StoredBatchReport, 'countedAt'>,
): Promise<void> {
  await sql`
    insert into batch_reports as kept (batch_id, line, counted, sums, report)
    select id, ${line}, ${counted}, ${sums && JSON.stringify(sums)}::jsonb, ${report && JSON.stringify(report)}::json
      from batches where id = ${batchId} and status <> 'deleted'
    on conflict (batch_id) do update
       set line = excluded.line, counted = excluded.counted, sums = excluded.sums, report = excluded.report, counted_at = now()
     where kept.line = ${fromLine} and kept.report is null`.execute(db);
}
