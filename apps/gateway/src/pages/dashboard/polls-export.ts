import { csvLine } from '../../http/csv.ts';
import { jsonLine } from '../../http/json-line.ts';
import { toListedPoll } from '../../polls/read/listed-poll.ts';
import type { HistoryRow } from './read-polls.ts';

// Exports polls of the history as a file: one line per poll, with the fields of GET /api/polls and its votes.

export const MAX_EXPORTED = 1_000;
/** Limit on the polls that one export reads, even if few match its filter. */
export const MAX_LOOKED_THROUGH = 70_000;

/** File name of an export that stopped before the end of the list. */
export const CUT_NAME = 'polls-incomplete';

export const EXPORT_FORMATS = {
  csv: { mediaType: 'text/csv; charset=utf-8; header=present', write: pollsCsv },
  jsonl: { mediaType: 'application/jsonl; charset=utf-8', write: pollsJsonl },
} as const;
export type ExportFormat = keyof typeof EXPORT_FORMATS;

const exported = (row: HistoryRow) => ({
  ...toListedPoll(row),
  options: row.outcome.options,
  votes: row.outcome.votes,
  models_asked: row.outcome.modelsAsked,
  took_ms: row.outcome.totalMs,
});

function pollsJsonl(rows: readonly HistoryRow[]): string {
  return rows.map((row) => `${jsonLine(exported(row))}\n`).join('');
}

const COLUMNS = [
  'session_id',
  'status',
  'result_id',
  'question',
  'options',
  'preset',
  'winning_option',
  'votes',
  'is_tie',
  'is_close',
  'models_asked',
  'cost_usd',
  'took_ms',
  'key_id',
  'metadata',
  'created_at',
  'ended_at',
] as const satisfies (keyof ReturnType<typeof exported>)[];

function pollsCsv(rows: readonly HistoryRow[]): string {
  const lines = rows.map(exported).map((poll) => ({
    ...poll,
    options: poll.options.join(' | '),
    votes: poll.votes.join(':'),
    metadata: Object.keys(poll.metadata).length === 0 ? '' : JSON.stringify(poll.metadata),
  }));
  return [csvLine(COLUMNS), ...lines.map((line) => csvLine(COLUMNS.map((column) => line[column])))].join('');
}
