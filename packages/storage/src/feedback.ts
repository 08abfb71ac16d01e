import { sql } from 'kysely';
import { refuseClosed } from './accounts.ts';
import type { Queries } from './open-storage.ts';
import { isOfResult, isResultInTime } from './results.ts';

// Opinions of callers about an outcome: one row per account and poll; a later opinion replaces the earlier one.

export interface Feedback {
  accountId: string;
  resultId: string;
  outcomeCorrect: boolean | null;
  confidence: number | null;
  notes: string | null;
}

export interface StoredFeedbackSummary {
  total: number;
  correct: number;
  incorrect: number;
  /** The newest entries. Notes and names are for operators, never for the public. */
  entries: { feedbackId: string; outcomeCorrect: boolean | null; confidence: number | null; createdAt: Date }[];
}

const MAX_ENTRIES = 100;

/** The id of the row, the same for every opinion of one account on one poll; null if there is no such result. */
export async function storeFeedback(queries: Queries, feedback: Feedback): Promise<string | null> {
  const { rows } = await sql<{ id: string | null }>`
    with caller as materialized (
      select id from accounts where id = ${feedback.accountId} and deleted_at is null for key share
    ), given as (
      insert into feedback (account_id, poll_id, outcome_correct, confidence, notes)
      select caller.id, poll_id, ${feedback.outcomeCorrect}::boolean,
             ${feedback.confidence}::double precision, ${feedback.notes}::text
        from caller, results where ${isOfResult(feedback.resultId)} and emptied_at is null and ${isResultInTime}
         and not exists (select from accounts a where a.id = results.account_id and a.deleted_at is not null)
      on conflict (account_id, poll_id) do update
        set outcome_correct = excluded.outcome_correct, confidence = excluded.confidence, notes = excluded.notes,
            updated_at = now()
      returning id)
    select (select id from given) from caller`.execute(queries.db);
  return rows[0] ? rows[0].id : refuseClosed(queries, feedback.accountId);
}

export async function readFeedbackSummary({ db }: Queries, resultId: string): Promise<StoredFeedbackSummary> {
  const { rows } = await sql<SummaryRow>`
    with given as (
      select f.* from feedback f join results using (poll_id) where ${isOfResult(resultId)} and ${isResultInTime}
    )
    select count(*)::integer as total,
           (count(*) filter (where outcome_correct))::integer as correct,
           (count(*) filter (where not outcome_correct))::integer as incorrect
      from given`.execute(db);
  const entries = await db
    .selectFrom('feedback')
    .innerJoin('results', 'results.poll_id', 'feedback.poll_id')
    .select(['feedback.id', 'outcome_correct', 'confidence', 'feedback.created_at'])
    .where(isOfResult(resultId))
    .where(isResultInTime)
    .orderBy('feedback.created_at', 'desc')
    .orderBy('feedback.id')
    .limit(MAX_ENTRIES)
    .execute();
  return {
    ...rows[0]!,
    entries: entries.map((entry) => ({
      feedbackId: entry.id,
      outcomeCorrect: entry.outcome_correct,
      confidence: entry.confidence,
      createdAt: entry.created_at,
    })),
  };
}

interface SummaryRow {
  total: number;
  correct: number;
  incorrect: number;
}
