import type { PanelName, PollResponse, ResultStatus } from '@eloquentpoll/contracts';
import {
  atNoCost,
  type Charges,
  isPaidByPool,
  pollIdsOfResult,
  pollIdsSince,
  readStored,
  withCharges,
} from '@eloquentpoll/polls';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Queries } from './open-storage.ts';
import { isAmong } from './poll-ids.ts';

// Stored outcomes. `detail` is the poll response sent to the caller; a public view must leave out its costs.

export interface Result {
  pollId: string;
  resultId: string;
  accountId: string | null;
  status: ResultStatus;
  modelsRequested: number;
  modelsSucceeded: number;
  modelsFailed: number;
  /** Costs are 0 if the free pool paid. */
  detail: PollResponse;
  /** True even if no vote shows it. Always false for results stored before this was recorded. */
  isCanceled: boolean;
  hasReceipt: boolean;
  createdAt: Date;
}

export interface ResultLine {
  resultId: string;
  question: string;
  status: ResultStatus;
  pollType: string;
  winningOption: string | null;
  isTie: boolean;
  /** Number of votes of each option that has any, highest first. */
  counts: readonly number[];
  panelName: PanelName;
  modelsRequested: number;
  modelsSucceeded: number;
  /** The caller ended the poll before its models had answered. */
  isCanceled: boolean;
  /** What the account paid: 0 for a poll of the free pool. */
  totalCostU: bigint;
  totalMs: number;
  createdAt: Date;
  /** Null if it is kept until it is deleted. */
  expiresAt: Date | null;
}

export async function findResult(queries: Queries, resultId: string): Promise<Result | null> {
  return toResult(await resultColumns(queries).where(isOfResult(resultId)).executeTakeFirst());
}

export async function findResultOfPoll(queries: Queries, pollId: string): Promise<Result | null> {
  return toResult(await resultColumns(queries).where('poll_id', '=', pollId).executeTakeFirst());
}

export async function findResultsOfPolls(queries: Queries, pollIds: readonly string[]): Promise<Result[]> {
  const rows = await resultColumns(queries).where(isAmong('results.poll_id', pollIds)).execute();
  return rows.flatMap((row) => toResult(row) ?? []);
}

export function readRecentResults(queries: Queries, accountId: string, limit = 5): Promise<ResultLine[]> {
  return readHistory(queries, accountId, limit, 0);
}

/** Recent polls are searched first; most pages contain no older ones. */
const RECENT_MS = 35 * 86_400_000;
/** The maximum time from accepting a poll, which determines its month, to storing its result. */
const MAX_RUN_MS = 3 * 86_400_000;

/** The account's results, newest first. */
export async function readHistory(
  queries: Queries,
  accountId: string,
  limit: number,
  offset: number,
): Promise<ResultLine[]> {
  const since = new Date(Date.now() - RECENT_MS);
  const recent = await historyOf(queries, { accountId, limit, offset, since });
  const last = recent.at(-1)?.createdAt.getTime() ?? 0;
  if (recent.length === limit && last >= since.getTime() + MAX_RUN_MS) return recent;
  return historyOf(queries, { accountId, limit, offset });
}

interface HistoryTerms {
  accountId: string;
  limit: number;
  offset: number;
  since?: Date;
}

/**
 * The polls of one page. Rows before the page are skipped within the index, because reading whole rows is expensive.
 */
export const pageOfHistory = ({ db }: Queries, { accountId, limit, offset, since }: HistoryTerms) =>
  db
    .selectFrom('results')
    .select('poll_id')
    .where('account_id', '=', accountId)
    .where(isResultInTime)
    .$if(since !== undefined, (results) => results.where('poll_id', '>=', pollIdsSince(since!)))
    .orderBy('created_at', 'desc')
    .orderBy('poll_id')
    .limit(limit)
    .offset(offset);

async function historyOf(queries: Queries, terms: HistoryTerms): Promise<ResultLine[]> {
  const { since } = terms;
  const page = pageOfHistory(queries, terms).as('page');
  const rows = await queries.db
    .selectFrom('results')
    .innerJoin(page, 'page.poll_id', 'results.poll_id')
    .select([
      'result_id',
      'status',
      'poll_type',
      'panel_name',
      'entry_point',
      'winning_option',
      'is_tie',
      'models_requested',
      'models_succeeded',
      'total_cost_u',
      'total_ms',
      'created_at',
      'expires_at',
      sql<string>`detail->>'question'`.as('question'),
      sql<Record<string, number>>`detail->'tally'`.as('tally'),
      wasCanceledByCaller.as('is_canceled'),
    ])
    .$if(since !== undefined, (results) => results.where('results.poll_id', '>=', pollIdsSince(since!)))
    .orderBy('created_at', 'desc')
    .orderBy('results.poll_id')
    .execute();
  return rows.map((row) => ({
    resultId: row.result_id,
    question: row.question,
    status: row.status,
    pollType: row.poll_type,
    winningOption: row.winning_option,
    isTie: row.is_tie,
    counts: countsOf(row.tally),
    panelName: row.panel_name,
    modelsRequested: row.models_requested,
    modelsSucceeded: row.models_succeeded,
    isCanceled: row.is_canceled,
    totalCostU: isPaidByPool(row.panel_name, row.entry_point) ? 0n : row.total_cost_u,
    totalMs: row.total_ms,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }));
}

/** The caller ended the poll before its models had answered. */
export const wasCanceledByCaller = sql<boolean>`
  coalesce(detail ->> 'canceled' = 'true' or detail ->> 'code' = 'poll_canceled' or (detail -> 'votes')::jsonb @> '[{"error":"aborted"}]', false)`;

export const countsOf = (tally: Readonly<Record<string, number>> | null): number[] =>
  Object.values(tally ?? {})
    .filter((count) => count > 0)
    .sort((a, b) => b - a);

/** Results are unreadable from the moment an account is closed; their rows are emptied later. */
const isOfOpenAccount = sql<boolean>`(
  results.account_id is null or not exists (
    select from accounts where accounts.id = results.account_id and accounts.deleted_at is not null))`;

/** Condition for the result with this id, whose text says in which month to search. */
export function isOfResult(resultId: string): RawBuilder<SqlBool> {
  const { since, until } = pollIdsOfResult(resultId);
  return sql`results.result_id = ${resultId} and results.poll_id >= ${since} and results.poll_id < ${until}`;
}

/** An expired result is unreadable, too; a worker empties its row later. */
export const isResultInTime = sql<boolean>`(results.expires_at is null or results.expires_at > now())`;

/** Results that may be read. */
export const openResults = ({ db }: Queries) =>
  db.selectFrom('results').where('emptied_at', 'is', null).where(isResultInTime).where(isOfOpenAccount);

function resultColumns(queries: Queries) {
  return openResults(queries).select([
    'poll_id',
    'result_id',
    'account_id',
    'status',
    'panel_name',
    'entry_point',
    'models_requested',
    'models_succeeded',
    'models_failed',
    'detail',
    'votes_u',
    'failed_calls_u',
    'receipt_leaf',
    'created_at',
  ]);
}

function toResult(row: Awaited<ReturnType<ReturnType<typeof resultColumns>['executeTakeFirst']>>): Result | null {
  if (!row) return null;
  const { response, isCanceled } = readStored(row.detail);
  return {
    pollId: row.poll_id,
    resultId: row.result_id,
    accountId: row.account_id,
    status: row.status,
    modelsRequested: row.models_requested,
    modelsSucceeded: row.models_succeeded,
    modelsFailed: row.models_failed,
    detail: isPaidByPool(row.panel_name, row.entry_point) ? atNoCost(response) : withCharges(response, chargesOf(row)),
    isCanceled,
    hasReceipt: row.receipt_leaf !== null,
    createdAt: row.created_at,
  };
}

export const chargesOf = ({
  votes_u,
  failed_calls_u,
}: {
  votes_u: bigint[] | null;
  failed_calls_u: bigint;
}): Charges | null => votes_u && { votesU: votes_u.map(Number), failedCallsU: Number(failed_calls_u) };
