import { pollIdsSince } from '@eloquentpoll/polls';
import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';
import { isAmong } from './poll-ids.ts';

// The data that an account has in this cell, in pages of bounded size; each page begins after the last row before it.

export interface PollPlace {
  pollId: string;
  /** In microseconds since 1970: a Date has only milliseconds. */
  createdUs: string;
}

/** The account's polls, oldest first. */
export async function pollsAfter(
  { db }: Queries,
  accountId: string,
  after: PollPlace | null,
  limit: number,
): Promise<PollPlace[]> {
  return db
    .selectFrom('polls')
    .select(['id as pollId', sql<string>`(extract(epoch from created_at) * 1000000)::bigint::text`.as('createdUs')])
    .where('account_id', '=', accountId)
    .$if(after !== null, (polls) =>
      polls.where(
        sql<boolean>`(created_at, id) > ('epoch'::timestamptz + ${after?.createdUs}::bigint * interval '1 microsecond', ${after?.pollId})
          and id >= ${pollIdsSince(new Date(Number(after?.createdUs ?? 0) / 1_000))}`,
      ),
    )
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute();
}

export interface BatchPlace {
  pollId: string;
  batchId: string;
  customId: string;
  gold: string | null;
}

/** The batch rows of those polls that came from a batch. */
export async function batchPlacesOf({ db }: Queries, pollIds: readonly string[]): Promise<BatchPlace[]> {
  return db
    .selectFrom('polls')
    .innerJoin('batch_rows', (join) =>
      join.onRef('batch_rows.batch_id', '=', 'polls.batch_id').onRef('batch_rows.line', '=', 'polls.batch_line'),
    )
    .select(['polls.id as pollId', 'batch_rows.batch_id as batchId', 'custom_id as customId', 'gold'])
    .where(isAmong('polls.id', pollIds))
    .execute();
}

export interface ExportedTransfer {
  id: string;
  kind: 'credit' | 'reversal' | 'hold' | 'post' | 'void';
  amountU: bigint;
  holdId: string | null;
  pollId: string | null;
  createdAt: Date;
}

/** Credits, reversals and holds in ledger order; each hold is followed by its outcome. */
export async function transfersAfter(
  { db }: Queries,
  accountId: string,
  afterId: string,
  limit: number,
): Promise<ExportedTransfer[]> {
  const { rows } = await sql<ExportedTransfer>`
    with own as materialized (
      select * from (
        (select * from transfers where debit = ${accountId}::uuid and kind in ('hold', 'reversal') and id > ${afterId}::bigint
          order by id limit ${limit})
        union all
        (select * from transfers where credit = ${accountId}::uuid and kind = 'credit' and id > ${afterId}::bigint
          order by id limit ${limit})) both_sides
       order by id limit ${limit})
    select id::text, kind, amount_u as "amountU", pending_id::text as "holdId", poll_id as "pollId", created_at as "createdAt"
      from (select coalesce(pending_id, id) as place, * from own
            union all
            select r.pending_id, r.* from own o join transfers r on r.pending_id = o.id and r.kind in ('post', 'void')) t
     order by place, id`.execute(db);
  return rows;
}

export interface GivenFeedback {
  pollId: string;
  resultId: string;
  outcomeCorrect: boolean | null;
  confidence: number | null;
  notes: string | null;
  createdAt: Date;
}

/** Sorted by poll id. */
export async function feedbackAfter(
  { db }: Queries,
  accountId: string,
  afterPollId: string,
  limit: number,
): Promise<GivenFeedback[]> {
  return db
    .selectFrom('feedback')
    .innerJoin('results', 'results.poll_id', 'feedback.poll_id')
    .select(['feedback.poll_id as pollId', 'results.result_id as resultId', 'outcome_correct as outcomeCorrect'])
    .select(['confidence', 'notes', 'feedback.created_at as createdAt'])
    .where('feedback.account_id', '=', accountId)
    .where('feedback.poll_id', '>', afterPollId)
    .orderBy('feedback.poll_id')
    .limit(limit)
    .execute();
}
