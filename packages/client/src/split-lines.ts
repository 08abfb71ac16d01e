// Splits files and streams of JSON lines: each line ends with an LF, optionally after a CR. node:readline would also
// split at U+2028 and U+2029, which JSON may contain.

export interface TextLine {
  /** Without its line ending. Null if the line exceeds the bound; its text is then dropped. */
  text: string | null;
  /** The offset in bytes after the line. */
  endsAt: number;
  /** False for text after the last LF. */
  hasEnd: boolean;
}

/** More than any answer of the service or message of an MCP host. */
const MAX_LINE_BYTES = 64 * 2 ** 20;
const LF = 10;

export async function* splitLines(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes: number = MAX_LINE_BYTES,
): AsyncGenerator<TextLine, void> {
  let kept: Uint8Array[] = [];
  let length = 0;
  let endsAt = 0;
  const append = (part: Uint8Array): void => {
    length += part.length;
    endsAt += part.length;
    if (length > maxBytes) kept = [];
    else if (part.length > 0) kept.push(part);
  };
  const take = (): string | null => {
    const text = length > maxBytes ? null : Buffer.concat(kept, length).toString('utf8');
    kept = [];
    length = 0;
    return text?.endsWith('\r') ? text.slice(0, -1) : text;
  };
  for await (const piece of pieces) {
    let from = 0;
    for (let at = piece.indexOf(LF); at >= 0; at = piece.indexOf(LF, from)) {
      append(piece.subarray(from, at));
      endsAt++;
      yield { text: take(), endsAt, hasEnd: true };
      from = at + 1;
    }
    append(piece.subarray(from));
  }
  if (length > 0) yield { text: take(), endsAt, hasEnd: false };
}
