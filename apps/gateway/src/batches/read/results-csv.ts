import type { BatchResult } from '@eloquentpoll/contracts';
import { csvLine } from '../../http/csv.ts';

type Cell = string | number | boolean | null | undefined;

const COLUMNS: Readonly<Record<string, (row: BatchResult) => Cell>> = {
  custom_id: ({ custom_id }) => custom_id,
  line: ({ line }) => line,
  status: ({ status }) => status,
  question: ({ result }) => result?.question,
  winning_option: ({ result }) => result?.winning_option,
  is_tie: ({ result }) => result?.is_tie,
  agreement: ({ result }) => result?.verdict?.agreement,
  confidence: ({ result }) => result?.confidence,
  votes: ({ result }) =>
    result &&
    Object.entries(result.tally)
      .map(([option, votes]) => `${option}: ${votes}`)
      .join('; '),
  gold: ({ gold }) => gold,
  is_right: ({ is_right }) => is_right,
  cost_usd: ({ result }) => result?.costs.total_estimated_cost,
  session_id: ({ session_id }) => session_id,
  result_id: ({ result }) => result?.poll_id,
  error_code: ({ error }) => error?.code,
  not_run_reason: ({ not_run_reason }) => not_run_reason,
};

export const RESULTS_HEADER = csvLine(Object.keys(COLUMNS));

export const resultAsCsv = (row: BatchResult): string =>
  csvLine(Object.values(COLUMNS).map((cellOf) => cellOf(row) ?? null));
