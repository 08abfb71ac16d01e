import { pollIdsSince, pollIdsUntil } from '@eloquentpoll/polls';
import { type RawBuilder, sql } from 'kysely';
import type { Queries } from './open-storage.ts';
import type { BatchRowsTable } from './tables/batches.ts';

/** A row of a batch, whether waiting, running or ended. */
export interface StoredBatchRow {
  line: number;
  customId: string;
  gold: string | null;
  pollId: string | null;
  outcome: BatchRowsTable['outcome'];
  /** The error code of a row that failed without a poll. */
  error: string | null;
  /** Null once its poll is deleted. */
  question: string | null;
}

const COLUMNS = sql`
  r.line, r.custom_id as "customId", r.gold, r.poll_id as "pollId", r.outcome, r.error,
  coalesce(p.spec ->> 'question', r.request ->> 'question') as question`;

/** In line order. */
export const readBatchRows = (
  queries: Queries,
  batchId: string,
  { afterLine, limit }: { afterLine: number; limit: number },
): Promise<StoredBatchRow[]> =>
  read(
    queries,
    // Limit before the join, as in readBatchLines.
    sql`select ${COLUMNS}
          from (select * from batch_rows where batch_id = ${batchId} and line > ${afterLine} order by line limit ${limit}) r
          left join polls p on p.id = r.poll_id order by r.line`,
  );

/**
 * Newest close calls of a batch, by the account's index of close calls, within the time when its polls were accepted.
 */
export const readCloseRows = (queries: Queries, batch: TimedBatch, limit: number): Promise<StoredBatchRow[]> =>
  read(queries, closeRowsQuery(batch, limit));

interface TimedBatch {
  accountId: string;
  id: string;
  createdAt: Date;
  /** Null while it runs. */
  endedAt: Date | null;
}

export function closeRowsQuery({ accountId, id, createdAt, endedAt }: TimedBatch, limit: number): RawBuilder<unknown> {
  // A Date has no microseconds, so round the end up.
  const until = new Date((endedAt ?? new Date()).getTime() + 1);
  // The leading comment keeps the statement unnamed: a cached plan would be for all months instead of these.
  return sql`/* of these months */
    select ${COLUMNS} from polls p join batch_rows r on r.batch_id = p.batch_id and r.line = p.batch_line
     where p.account_id = ${accountId}::uuid and p.is_close and p.batch_id = ${id}
       and p.created_at >= ${createdAt}${endedAt ? sql` and p.created_at <= ${until}` : sql``}
       and p.id >= ${pollIdsSince(createdAt)} and p.id < ${pollIdsUntil(until)}
     order by p.created_at desc, p.id desc limit ${limit}`;
}

async function read({ db }: Queries, query: RawBuilder<unknown>): Promise<StoredBatchRow[]> {
  const { rows } = await sql<StoredBatchRow>`${query}`.execute(db);
  return rows;
}
