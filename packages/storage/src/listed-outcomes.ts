import type { ResultStatus } from '@eloquentpoll/contracts';
import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';
import { pollsWithResults } from './polls-with-results.ts';
import { countsOf, wasCanceledByCaller } from './results.ts';

/** What a page with a list of polls shows for each poll besides its line: how it was asked, and how close it was. */
export interface ListedOutcome {
  /** The id in the address of its page, which exists from the moment the poll is accepted. */
  resultId: string;
  options: readonly string[];
  confidenceThreshold: number;
  maxCostUsd: number;
  /** Null if the poll asked a preset or individually named models. */
  savedPanel: string | null;
  /** Null if the poll asked a preset or a saved panel. */
  namedModels: readonly string[] | null;
  /** The models could search the web. */
  search: boolean;
  /** The models were asked to give a reason with their votes. */
  reasons: boolean;
  /** Null until the poll has ended with a result. */
  status: ResultStatus | null;
  /** Number of votes of each option that has any, highest first. */
  counts: readonly number[];
  /** Number of votes of each option, in the order of the options; empty without a result. */
  votes: readonly number[];
  panelSize: number;
  /** Null without a result. */
  modelsAsked: number | null;
  modelsFailed: number;
  isCanceled: boolean;
  totalMs: number | null;
}

/** `pollIds`: the ids of the polls; the map's keys are the same ids. */
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
