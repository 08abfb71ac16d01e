import { LIMITS } from '@eloquentpoll/contracts';
import { TOO_LONG } from './jsonl-rows.ts';

// Parses the records of a CSV file (RFC 4180) as its bytes arrive. Cells stay bytes, so that each is checked for UTF-8.

/** `isLast`: the end of the record is unknown, so the next record cannot be found. */
export type CsvRecord = { line: number; cells: Buffer[] } | { line: number; problem: string; isLast: boolean };

const QUOTE = 0x22;
const COMMA = 0x2c;
const LF = 0x0a;
const CR = 0x0d;

/** The position of the next byte within its cell. */
type Place = 'start' | 'plain' | 'quoted' | 'closed' | 'closed, then CR' | 'behind quotes';

const PROBLEMS = {
  within: 'has a quote within a cell that is not in quotes',
  behind: 'has text behind a closing quote; a quote within quotes is written twice',
  behindOrOpen: 'has a quote that is not closed, or text behind a closing one',
  open: 'has a quote that is not closed',
  long: TOO_LONG,
  longOrOpen: `${TOO_LONG}, or a quote before it is not closed`,
};

export async function* csvRecords(bytes: AsyncIterable<Buffer>): AsyncGenerator<CsvRecord> {
  const begun = new BegunRecord();
  for await (const chunk of bytes) {
    let from = 0;
    for (let i = 0; i < chunk.length; i++) {
      if (!begun.endsWith(chunk[i]!, i - from)) continue;
      begun.keep(chunk.subarray(from, i));
      const record = begun.take();
      yield record;
      if ('isLast' in record && record.isLast) return;
      from = i + 1;
    }
    begun.keep(chunk.subarray(from));
  }
  if (!begun.isEmpty) yield begun.take();
}

/**
 * The record that is being read. A faulty record ends at the end of its line, unless the line ends within quotes or the
 * record began on an earlier line.
 */
class BegunRecord {
  #line = 1;
  #breaks = 0;
  #place: Place = 'start';
  #problem: string | null = null;
  #parts: Buffer[] = [];
  #length = 0;
  /** Positions of the commas between cells. */
  #commas: number[] = [];

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Whether the record ends with this byte, which follows `after` bytes that are not kept yet. */
  endsWith(byte: number, after: number): boolean {
    const place = this.#place;
    if (byte === QUOTE) {
      if (place === 'plain') this.#problem ??= PROBLEMS.within;
      else if (place === 'closed, then CR') this.#refuseText();
      if (place !== 'plain') this.#place = place === 'quoted' ? 'closed' : 'quoted';
    } else if (place === 'quoted') {
      if (byte !== LF) return false;
      // An earlier quote is wrong, so this one may not be an opening quote.
      if (this.#problem !== null) return true;
      this.#breaks += 1;
    } else if (byte === LF) {
      return true;
    } else if (byte === COMMA && place !== 'closed, then CR') {
      if (this.#problem === null) this.#commas.push(this.#length + after);
      this.#place = 'start';
    } else if (place === 'closed' && byte === CR) {
      this.#place = 'closed, then CR';
    } else if (place === 'closed' || place === 'closed, then CR') {
      this.#refuseText();
      this.#place = 'behind quotes';
    } else if (place === 'start') {
      this.#place = 'plain';
    }
    return false;
  }

  #refuseText(): void {
    this.#problem ??= this.#breaks > 0 ? PROBLEMS.behindOrOpen : PROBLEMS.behind;
  }

  /** Keeps nothing of a record that is too long. */
  keep(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > LIMITS.batch.line_bytes)
      this.#problem ??= this.#place === 'quoted' || this.#breaks > 0 ? PROBLEMS.longOrOpen : PROBLEMS.long;
    if (this.#problem !== null) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }

  take(): CsvRecord {
    const line = this.#line;
    const isOpen = this.#place === 'quoted';
    const problem = this.#problem ?? (isOpen ? PROBLEMS.open : null);
    const record: CsvRecord =
      problem === null ? { line, cells: this.#cells() } : { line, problem, isLast: isOpen || this.#breaks > 0 };
    this.#line += this.#breaks + 1;
    this.#breaks = 0;
    this.#place = 'start';
    this.#problem = null;
    this.#parts = [];
    this.#length = 0;
    this.#commas = [];
    return record;
  }

  #cells(): Buffer[] {
    const bytes = Buffer.concat(this.#parts, this.#length);
    const end = bytes.at(-1) === CR ? this.#length - 1 : this.#length;
    const starts = [0, ...this.#commas.map((comma) => comma + 1)];
    return starts.map((start, i) => contentOf(bytes.subarray(start, this.#commas[i] ?? end)));
  }
}

function contentOf(cell: Buffer): Buffer {
  if (cell[0] !== QUOTE) return cell;
  const content = cell.subarray(1, -1);
  return content.includes('""') ? Buffer.from(content.toString('latin1').replaceAll('""', '"'), 'latin1') : content;
}
