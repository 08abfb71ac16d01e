import { createReadStream, createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type BatchResult, type BatchRun, EloquentPollError } from '../eloquentpoll.ts';
import { splitLines } from '../split-lines.ts';
import { jsonText } from './json-text.ts';
import { cutToWholeLines } from './lines-file.ts';
import { type Output, printLongList } from './terminal.ts';
import { UsageError } from './usage-error.ts';

// The results of a batch on disk. A file of JSON lines is completed if an earlier command was interrupted. A CSV file
// is written anew and replaces the old one once it is complete.

export interface ResultsFile {
  /** `-`: standard output. */
  out: string;
  /** Number of rows of the batch, which has ended: there is a line for each. */
  total: number;
}

/** Returns the number of lines in the complete file. */
export async function writeResults(run: BatchRun, { out, total }: ResultsFile, signal: AbortSignal): Promise<number> {
  if (/\.csv$/i.test(out)) return writeCsv(run, { out, total }, signal);
  const known = new Set<number>();
  let isRepeated = false;
  await cutToWholeLines(out, ({ line }) => {
    if (typeof line !== 'number')
      throw new UsageError(`${out} has lines that are not results. Name another file with --out.`);
    isRepeated ||= known.has(line);
    known.add(line);
    return true;
  });
  if (isRepeated) await dropRepeated(out, signal);
  let added = 0;
  async function* missing() {
    for await (const row of run.results({ signal })) {
      if (known.has(row.line)) continue;
      added++;
      yield `${jsonText(row)}\n`;
    }
  }
  await pipeline(Readable.from(missing()), createWriteStream(out, { flags: 'a' }), { signal });
  return checked(known.size + added, total);
}

/** An answer that a proxy cut between two lines looks complete. */
function checked(lines: number, total: number): number {
  if (lines >= total) return lines;
  const message = `The results broke off: ${lines} of ${total} lines have arrived. The same command reads them again.`;
  throw new EloquentPollError(message, { code: 'bad_response', retryable: true });
}

/** If two commands wrote rows at once, the first result of each row is kept. */
async function dropRepeated(out: string, signal: AbortSignal): Promise<void> {
  const draft = `${out}.part`;
  const seen = new Set<number>();
  async function* once() {
    for await (const { text } of splitLines(createReadStream(out))) {
      const { line } = JSON.parse(text ?? '') as BatchResult;
      if (!seen.has(line)) yield `${text}\n`;
      seen.add(line);
    }
  }
  await pipeline(Readable.from(once()), createWriteStream(draft), { signal });
  await rename(draft, out);
}

export async function printResults(
  run: BatchRun,
  out: Output,
  { total, signal }: { total: number; signal: AbortSignal },
): Promise<number> {
  let lines = 0;
  for await (const row of run.results({ signal })) {
    await printLongList(out, jsonText(row), signal);
    lines++;
  }
  return checked(lines, total);
}

const COLUMNS = ['custom_id', 'line', 'status', 'answer', 'confidence', 'cost_usd', 'gold', 'is_right', 'error', 'id'];

async function writeCsv(run: BatchRun, { out, total }: ResultsFile, signal: AbortSignal): Promise<number> {
  const draft = `${out}.part`;
  let lines = 0;
  async function* table() {
    yield `${COLUMNS.join(',')}\n`;
    for await (const row of run.results({ signal })) {
      lines++;
      yield `${cellsOf(row).map(cell).join(',')}\n`;
    }
  }
  await pipeline(Readable.from(table()), createWriteStream(draft), { signal });
  checked(lines, total);
  await rename(draft, out);
  return lines;
}

function cellsOf({ custom_id, line, status, not_run_reason, result, gold, is_right, error, session_id }: BatchResult) {
  const cost = result?.costs.total_estimated_cost ?? null;
  const answer = result?.winning_option ?? null;
  const id = result?.poll_id ?? session_id;
  const why = error?.code ?? not_run_reason;
  return [custom_id, line, status, answer, result?.confidence ?? null, cost, gold, is_right, why, id];
}

/** Cells that a spreadsheet would compute. A leading apostrophe keeps them text, as in the service's tables. */
const FORMULA = /^[=+\-@\t\r]/;

/** Cells with semicolons and tabs are quoted too, because some programs treat these as separators. */
function cell(value: string | number | boolean | null): string {
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value ?? '');
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
