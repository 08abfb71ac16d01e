import { setImmediate as nextTurn } from 'node:timers/promises';
import { LIMITS } from '@eloquentpoll/contracts';
import { ApiError, invalid } from '../../http/api-error.ts';
import { TOO_LONG } from './jsonl-rows.ts';
import { BOM, type RawRow, startsWithBom, utf8TextOf } from './raw-row.ts';

// A batch as one JSON object of up to 8 MiB. Parsing it in one piece would block all other requests for half a second.
// So its members are located first, by brackets and quotes, and each row is parsed on its own.

export interface InlineBody {
  /** All members except the rows; a body that is not an object is returned as it is. */
  members: unknown;
  /** Null where `requests` is not an array. */
  rows: AsyncIterable<RawRow> | null;
}

/** Size limit of one row, and of all other members together. */
const MAX_BYTES = LIMITS.batch.line_bytes;
/** Other requests get a turn after so much work. */
const MAX_TURN_MS = 5;

export async function readInlineBody(body: Buffer): Promise<InlineBody> {
  const bytes = body.subarray(startsWithBom(body) ? BOM.length : 0);
  const scanner = new JsonScanner(bytes);
  if (scanner.next() !== '{') return { members: bytes.length > MAX_BYTES ? null : parsed(bytes), rows: null };
  const members: [string, unknown][] = [];
  let membersBytes = 0;
  let extents: number[] | null = null;
  for await (const name of scanner.members()) {
    const isRows = name === 'requests';
    if (isRows && scanner.next() === '[') {
      extents = await scanner.elements();
      continue;
    }
    const value = scanner.skip();
    membersBytes += value.length;
    if (membersBytes > MAX_BYTES)
      throw invalid([{ pointer: `#/${name}`, detail: `all but requests must take at most ${MAX_BYTES} bytes` }]);
    members.push([name, parsed(value)]);
    if (isRows) extents = null;
  }
  const { requests: _, ...others } = Object.fromEntries(members);
  return { members: others, rows: extents && rowsAt(bytes, extents) };
}

/** A row's line is its position. */
async function* rowsAt(bytes: Buffer, extents: readonly number[]): AsyncGenerator<RawRow> {
  for (let i = 0; i < extents.length; i += 2) {
    const line = i / 2 + 1;
    const row = bytes.subarray(extents[i]!, extents[i + 1]!);
    yield row.length > MAX_BYTES ? { line, problem: TOO_LONG } : { line, value: parsed(row) };
  }
}

function parsed(bytes: Buffer): unknown {
  const text = utf8TextOf(bytes);
  if (text === '') return undefined;
  try {
    if (text !== null) return JSON.parse(text);
  } catch {}
  throw malformed();
}

const malformed = (): ApiError => new ApiError('malformed_json', { detail: 'The body is not valid JSON in UTF-8.' });

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const OPENING: ReadonlySet<number> = new Set([0x7b, 0x5b]);
const CLOSING: ReadonlySet<number> = new Set([0x7d, 0x5d]);
const COMMA = 0x2c;

/** Finds where values in a JSON text begin and end. Faults inside a value are found when it is parsed. */
class JsonScanner {
  readonly #bytes: Buffer;
  #at = 0;
  #turnBeganAt = performance.now();

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The next character that is not whitespace. */
  next(): string {
    while (BLANKS.has(this.#bytes[this.#at]!)) this.#at += 1;
    return String.fromCharCode(this.#bytes[this.#at] ?? 0);
  }

  /** For an object that fills the text: yields each name; the caller then reads its value. */
  async *members(): AsyncGenerator<string> {
    this.#take('{');
    if (this.next() === '}') this.#take('}');
    else
      do {
        if (this.next() !== '"') throw malformed();
        const name = parsed(this.skip()) as string;
        this.#take(':');
        yield name;
      } while (this.#goesOn('}'));
    this.next();
    if (this.#at < this.#bytes.length) throw malformed();
  }

  /** For an array: start and end of its elements, up to one more than the rows that a batch may have. */
  async elements(): Promise<number[]> {
    const extents: number[] = [];
    this.#take('[');
    if (this.next() === ']') this.#take(']');
    else
      do {
        const { length } = this.skip();
        if (extents.length <= 2 * LIMITS.batch.inline_rows) extents.push(this.#at - length, this.#at);
        if (performance.now() - this.#turnBeganAt > MAX_TURN_MS) {
          await nextTurn();
          this.#turnBeganAt = performance.now();
        }
      } while (this.#goesOn(']'));
    return extents;
  }

  /** Skips a value and returns its bytes. */
  skip(): Buffer {
    this.next();
    const bytes = this.#bytes;
    const start = this.#at;
    let depth = 0;
    do {
      const byte = bytes[this.#at];
      if (byte === undefined) throw malformed();
      if (byte === QUOTE) this.#skipText();
      else if (depth === 0 && !OPENING.has(byte)) this.#skipWord();
      else {
        if (OPENING.has(byte)) depth += 1;
        else if (CLOSING.has(byte)) depth -= 1;
        this.#at += 1;
      }
    } while (depth > 0);
    return bytes.subarray(start, this.#at);
  }

  #skipText(): void {
    for (;;) {
      const end = this.#bytes.indexOf(QUOTE, this.#at + 1);
      if (end < 0) throw malformed();
      let before = end;
      while (this.#bytes[before - 1] === BACKSLASH) before -= 1;
      this.#at = end;
      if ((end - before) % 2 === 0) break;
    }
    this.#at += 1;
  }

  /** Skips a number, true, false or null. */
  #skipWord(): void {
    const start = this.#at;
    for (; this.#at < this.#bytes.length; this.#at += 1) {
      const byte = this.#bytes[this.#at]!;
      if (byte === COMMA || CLOSING.has(byte) || BLANKS.has(byte)) break;
    }
    if (this.#at === start) throw malformed();
  }

  #goesOn(end: string): boolean {
    if (this.next() === ',') {
      this.#take(',');
      return true;
    }
    this.#take(end);
    return false;
  }

  #take(character: string): void {
    if (this.next() !== character) throw malformed();
    this.#at += 1;
  }
}
