import type { ResultStatus } from '@eloquentpoll/contracts';
import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';
import { pollsWithResults } from './polls-with-results.ts';
import { countsOf, wasCanceledByCaller } from './results.ts';

/** What a list of polls on a page shows beside its lines: how each was asked, and how close it was. */
export interface ListedOutcome {
  /** The address of its page, from the moment on that it was accepted. */
  resultId: string;
  options: readonly string[];
  confidenceThreshold: number;
  maxCostUsd: number;
  /** Null where it was asked of a preset, or of models one by one. */
  savedPanel: string | null;
  /** Null where it was asked of a preset or a saved panel. */
  namedModels: readonly string[] | null;
  /** Its models were to search the web. */
  search: boolean;
  /** They were asked for a sentence with their votes. */
  reasons: boolean;
  /** Null until it has ended with a result. */
  status: ResultStatus | null;
  /** Votes of each option that has any, the most first. */
  counts: readonly number[];
  /** Votes of each option, in their order; empty without a result. */
  votes: readonly number[];
  panelSize: number;
  /** Null without a result. */
  modelsAsked: number | null;
  modelsFailed: number;
  isCanceled: boolean;
  totalMs: number | null;
}

/** By the ids of the polls. */
export async function readOutcomes(queries: Queries, pollIds: readonly string[]): Promise<Map<string, ListedOutcome>> {
  const rows = await outcomeColumns(queries, pollIds).execute();
  return new Map(
    rows.map((row) => [
      row.id,
      {
        resultId: row.result_id,
        options: row.options,
        confidenceThreshold: row.confidence_threshold,
        maxCostUsd: row.max_cost_u / 1_000_000,
        savedPanel: row.saved_panel,
        namedModels: row.named_models,
        search: row.search,
        reasons: row.reasons,
        status: row.status,
        counts: countsOf(row.tally),
        votes: votesOf(row.options, row.tally),
        panelSize: row.seats,
        modelsAsked: row.models_requested,
        modelsFailed: row.models_failed ?? 0,
        isCanceled: row.is_canceled,
        totalMs: row.total_ms,
      },
    ]),
  );
}

const outcomeColumns = (queries: Queries, pollIds: readonly string[]) =>
  pollsWithResults(queries, pollIds).select([
    'polls.id',
    'polls.result_id',
    'results.status',
    'results.models_requested',
    'results.models_failed',
    'results.total_ms',
    sql<string[]>`polls.spec -> 'options'`.as('options'),
    sql<number>`(polls.spec ->> 'confidence_threshold')::float8`.as('confidence_threshold'),
    sql<number>`(polls.spec ->> 'max_cost_u')::float8`.as('max_cost_u'),
    sql<string | null>`polls.spec ->> 'saved_panel'`.as('saved_panel'),
    namedModels.as('named_models'),
    sql<boolean>`coalesce((polls.spec -> 'search')::boolean, false)`.as('search'),
    sql<boolean>`coalesce((polls.spec -> 'reasons')::boolean, false)`.as('reasons'),
    sql<number>`jsonb_array_length(polls.spec -> 'seats')`.as('seats'),
    sql<Record<string, number> | null>`detail -> 'tally'`.as('tally'),
    wasCanceledByCaller.as('is_canceled'),
  ]);

const votesOf = (options: readonly string[], tally: Readonly<Record<string, number>> | null): number[] =>
  tally === null ? [] : options.map((option) => (Object.hasOwn(tally, option) ? tally[option]! : 0));

const namedModels = sql<string[] | null>`
  case when polls.spec ->> 'panel_name' = 'custom' and not polls.spec ? 'saved_panel'
       then jsonb_path_query_array(polls.spec, '$.seats[*].model_id') end`;
