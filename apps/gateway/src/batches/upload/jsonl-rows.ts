import { LIMITS } from '@eloquentpoll/contracts';
import { type RawRow, utf8TextOf, withoutBom } from './raw-row.ts';

const MAX_LINE_BYTES = LIMITS.batch.line_bytes;
const NEWLINE = 10;

/** One JSON value per line; blank lines are skipped. A line that is too long is not kept in memory. */
export async function* jsonlRows(bytes: AsyncIterable<Buffer>): AsyncGenerator<RawRow> {
  let line = 1;
  let begun: Buffer[] = [];
  let length = 0;
  const append = (part: Buffer): void => {
    length += part.length;
    if (length > MAX_LINE_BYTES) begun = [];
    else if (part.length > 0) begun.push(part);
  };
  const take = (): RawRow | null => {
    const row = length > MAX_LINE_BYTES ? { line, problem: TOO_LONG } : rowOf(line, Buffer.concat(begun, length));
    line += 1;
    begun = [];
    length = 0;
    return row;
  };
  for await (const chunk of withoutBom(bytes)) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      append(chunk.subarray(from, end));
      const row = take();
      if (row) yield row;
      from = end + 1;
    }
    append(chunk.subarray(from));
  }
  const last = take();
  if (last) yield last;
}

export const TOO_LONG = `is longer than ${MAX_LINE_BYTES} bytes`;

function rowOf(line: number, bytes: Buffer): RawRow | null {
  const text = utf8TextOf(bytes);
  if (text === null) return { line, problem: 'is not UTF-8' };
  if (text.trim() === '') return null;
  try {
    return { line, value: JSON.parse(text) };
  } catch {
    return { line, problem: 'is not JSON' };
  }
}
