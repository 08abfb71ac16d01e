import { pollIdsSince, pollIdsUntil } from '@eloquentpoll/polls';
import { type RawBuilder, sql } from 'kysely';
import type { Queries } from './open-storage.ts';
import type { BatchRowsTable } from './tables/batches.ts';

/** A row of a batch, whether it waits, runs or has ended. */
export interface StoredBatchRow {
  line: number;
  customId: string;
  gold: string | null;
  pollId: string | null;
  outcome: BatchRowsTable['outcome'];
  /** The code of the error of a row that failed without a poll. */
  error: string | null;
  /** Null once its poll is deleted. */
  question: string | null;
}

const COLUMNS = sql`
  r.line, r.custom_id as "customId", r.gold, r.poll_id as "pollId", r.outcome, r.error,
  coalesce(p.spec ->> 'question', r.request ->> 'question') as question`;

/** In the order of their lines. */
export const readBatchRows = (
  queries: Queries,
  batchId: string,
  { afterLine, limit }: { afterLine: number; limit: number },
): Promise<StoredBatchRow[]> =>
  read(
    queries,
    // Limited before it is joined, as in readBatchLines.
    sql`select ${COLUMNS}
          from (select * from batch_rows where batch_id = ${batchId} and line > ${afterLine} order by line limit ${limit}) r
          left join polls p on p.id = r.poll_id order by r.line`,
  );

/** The newest close calls of a batch, by the account's index of them: of the time in which its polls were accepted alone. */
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
  // A Date has no microseconds, so the end may be a little later than it says.
  const until = new Date((endedAt ?? new Date()).getTime() + 1);
  // The comment leaves it without a name: a plan for any month would be one for all of them.
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
