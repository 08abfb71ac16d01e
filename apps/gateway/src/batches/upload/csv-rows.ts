import { columnsOf, fieldsOf } from './csv-columns.ts';
import { type CsvRecord, csvRecords } from './csv-records.ts';
import { type RawRow, utf8TextOf, withoutBom } from './raw-row.ts';

/** Rows of a CSV file. The header must come first, because it gives the cells their meaning. */
export async function* csvRows(bytes: AsyncIterable<Buffer>): AsyncGenerator<RawRow> {
  let names: readonly string[] | null = null;
  for await (const record of csvRecords(withoutBom(bytes))) {
    const row: string[] | RawRow | null = names === null ? headerOf(record) : rowOf(record, names);
    if (row === null) continue;
    if (Array.isArray(row)) {
      names = row;
      continue;
    }
    yield row;
    if ('isLast' in row && row.isLast) return;
  }
}

/** The column names, or the problem of the header; null for a blank line. */
function headerOf(record: CsvRecord): string[] | RawRow | null {
  const cells = textsOf(record);
  if (cells === null) return null;
  const columns = Array.isArray(cells) ? columnsOf(cells) : cells;
  return 'names' in columns ? columns.names : { line: record.line, problem: columns.problem, isLast: true };
}

function rowOf(record: CsvRecord, names: readonly string[]): RawRow | null {
  const { line } = record;
  const cells = textsOf(record);
  if (!Array.isArray(cells)) return cells;
  const { length } = names;
  if (cells.length !== length) return { line, problem: `has ${cells.length} cells, the header ${length}` };
  return { line, value: fieldsOf(names, cells) };
}

function textsOf(record: CsvRecord): string[] | Extract<RawRow, { problem: string }> | null {
  if ('problem' in record) return record;
  const [first] = record.cells;
  if (record.cells.length === 1 && first!.length === 0) return null;
  const cells = record.cells.map(utf8TextOf);
  return cells.every((cell) => cell !== null) ? cells : { line: record.line, problem: 'is not UTF-8' };
}
