import { LIMITS } from '@eloquentpoll/contracts';
import { type CsvError, type Parser, parse } from 'csv-parse';
import { columnsOf, fieldsOf } from './csv-columns.ts';
import { TOO_LONG } from './jsonl-rows.ts';
import { type RawRow, utf8TextOf, withoutBom } from './raw-row.ts';

// Rows of a CSV file (RFC 4180) under a header. A fault in its quotes ends it: where the next row begins is not known then.

export async function* csvRows(bytes: AsyncIterable<Buffer>): AsyncGenerator<RawRow> {
  const lines = new LineCounter();
  const table = new Table();
  let records: { cells: Buffer[]; end: number }[] = [];
  const parser = parse({
    // Cells stay bytes, so that each is checked to be UTF-8.
    encoding: null,
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    max_record_size: LIMITS.batch.line_bytes,
    // Records are taken here: those before a fault would be lost with the stream.
    on_record(cells: unknown, { bytes }) {
      records.push({ cells: cells as Buffer[], end: bytes });
      return null;
    },
  });
  parser.on('error', () => {}).resume();
  const rowsUpTo = function* (fault: CsvError | null): Generator<RawRow> {
    for (const { cells, end } of records) {
      const line = lines.at;
      lines.pass(end);
      const row = table.rowOf(line, cells);
      if (row) yield row;
      if (table.isOver) return;
    }
    records = [];
    if (fault === null) return;
    const problem = PROBLEMS[fault.code];
    if (problem === undefined) throw fault;
    yield { line: lines.at, problem, isLast: true };
    table.isOver = true;
  };
  for await (const chunk of withoutBom(bytes)) {
    lines.see(chunk);
    yield* rowsUpTo(await faultOf(parser, chunk));
    if (table.isOver) return;
  }
  yield* rowsUpTo(await faultOf(parser, null));
}

/** What the parser finds wrong with a chunk, or with the end. */
const faultOf = (parser: Parser, chunk: Buffer | null): Promise<CsvError | null> =>
  new Promise((resolve) => {
    const done = (error?: Error | null): void => resolve((error as CsvError | null | undefined) ?? null);
    if (chunk === null) parser.end(done);
    else parser.write(chunk, done);
  });

const PROBLEMS: Readonly<Record<string, string>> = {
  CSV_MAX_RECORD_SIZE: `${TOO_LONG}, or a quote before it is not closed`,
  CSV_INVALID_CLOSING_QUOTE: 'has text behind a closing quote; a quote within quotes is written twice',
  INVALID_OPENING_QUOTE: 'has a quote within a cell that is not in quotes',
  CSV_QUOTE_NOT_CLOSED: 'has a quote that is not closed',
};

/** What the records of a file say, the first of which is its header. */
class Table {
  /** Nothing that follows has a meaning. */
  isOver = false;
  #names: readonly string[] | null = null;

  /** Null for a blank line, and for the header. */
  rowOf(line: number, record: readonly Buffer[]): RawRow | null {
    if (record.length === 1 && record[0]!.length === 0) return null;
    const cells = record.map(utf8TextOf);
    if (!cells.every((cell) => cell !== null)) return this.#refused(line, 'is not UTF-8');
    if (this.#names === null) {
      const columns = columnsOf(cells);
      if ('problem' in columns) return this.#refused(line, columns.problem);
      this.#names = columns.names;
      return null;
    }
    const { length } = this.#names;
    if (cells.length !== length) return { line, problem: `has ${cells.length} cells, the header ${length}` };
    return { line, value: fieldsOf(this.#names, cells) };
  }

  #refused(line: number, problem: string): RawRow {
    this.isOver = this.#names === null;
    return { line, problem, isLast: this.isOver };
  }
}

/** On which line of the file a record begins; the parser counts some line breaks within quotes twice. */
class LineCounter {
  at = 1;
  /** Where the line breaks are that were seen and, from #next on, not passed yet. */
  #breaks: number[] = [];
  #next = 0;
  #bytes = 0;

  see(chunk: Buffer): void {
    this.#breaks = this.#breaks.slice(this.#next);
    this.#next = 0;
    for (let i = chunk.indexOf(10); i >= 0; i = chunk.indexOf(10, i + 1)) this.#breaks.push(this.#bytes + i);
    this.#bytes += chunk.length;
  }

  /** What is before this byte has been read. */
  pass(byte: number): void {
    while (this.#next < this.#breaks.length && this.#breaks[this.#next]! < byte) {
      this.#next += 1;
      this.at += 1;
    }
  }
}
