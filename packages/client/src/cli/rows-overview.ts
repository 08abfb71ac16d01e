import { splitLines } from '../split-lines.ts';
import { UsageError } from './usage-error.ts';

// Counts what a file of rows contains before it is submitted. The service validates the rows.

export interface RowsOverview {
  rows: number;
  /** Number of rows with a known answer. Null for CSV, of which only the header is examined. */
  withGold: number | null;
  hasGold: boolean;
  /** Number of options of the first row. Null if unknown. */
  options: number | null;
  /** Whether a row sets what determines its price. */
  hasTerms: boolean;
}

const TERMS = ['preset', 'models', 'panel', 'confidence_threshold', 'reasons'];

export const overviewOf = (rows: Blob, format: 'jsonl' | 'csv'): Promise<RowsOverview> =>
  format === 'csv' ? ofCsv(rows) : ofJsonLines(rows);

async function ofJsonLines(rows: Blob): Promise<RowsOverview> {
  const found: RowsOverview = { rows: 0, withGold: 0, hasGold: false, options: null, hasTerms: false };
  let line = 0;
  const pieces: AsyncIterable<Uint8Array> = rows.stream();
  for await (const { text } of splitLines(pieces)) {
    line++;
    if (text?.trim() === '') continue;
    const row = rowOf(line === 1 ? withoutMark(text) : text, line);
    const { gold, options } = row;
    found.rows++;
    if (gold !== undefined && gold !== null) found.withGold = (found.withGold ?? 0) + 1;
    found.hasTerms ||= TERMS.some((name) => Object.hasOwn(row, name));
    found.options ??= Array.isArray(options) ? options.length : null;
  }
  return { ...found, hasGold: found.withGold !== 0 };
}

const withoutMark = (text: string | null): string | null => text?.replace(/^\ufeff/, '') ?? null;

function rowOf(text: string | null, line: number): { gold?: unknown; options?: unknown } {
  try {
    const row: unknown = JSON.parse(text ?? '');
    if (typeof row === 'object' && row !== null) return row;
  } catch {
    // Reported below.
  }
  throw new UsageError(
    `Line ${line} is not a JSON object. Each line must be one, such as {"question": "…", "options": ["…", "…"]}`,
  );
}

/** Counts CSV records, whose quoted cells may span several lines. The first record is the header. */
async function ofCsv(rows: Blob): Promise<RowsOverview> {
  let records = 0;
  let isQuoted = false;
  let isEmpty = true;
  let head = '';
  for await (const text of piecesOf(rows)) {
    for (const char of text) {
      if (char === '"') isQuoted = !isQuoted;
      if (char !== '\n' || isQuoted) {
        if (records === 0) head += char;
        isEmpty &&= char === '\r';
        continue;
      }
      if (!isEmpty) records++;
      isEmpty = true;
    }
  }
  if (!isEmpty) records++;
  const columns = head
    .replace(/^\ufeff/, '')
    .split(',')
    .map((name) => name.trim().replaceAll('"', '').toLowerCase());
  const hasTerms = TERMS.some((name) => columns.includes(name));
  return { rows: Math.max(0, records - 1), withGold: null, hasGold: columns.includes('gold'), options: null, hasTerms };
}

async function* piecesOf(rows: Blob): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const pieces: AsyncIterable<Uint8Array> = rows.stream();
  for await (const piece of pieces) yield decoder.decode(piece, { stream: true });
  yield decoder.decode();
}
