/** A row of an upload before its fields are checked. */
export type RawRow =
  | { line: number; value: unknown }
  /** A row that cannot be read; `isLast`: the rows after it cannot be read either. */
  | { line: number; problem: string; isLast?: boolean };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Null if the bytes are not UTF-8. */
export function utf8TextOf(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

export const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

export const startsWithBom = (bytes: Buffer): boolean => bytes.subarray(0, BOM.length).equals(BOM);

/** Removes a byte order mark, even if it is split over the first chunks. */
export async function* withoutBom(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let first: Buffer | null = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (first === null) {
      yield chunk;
      continue;
    }
    first = first.length === 0 ? chunk : Buffer.concat([first, chunk]);
    if (first.length < BOM.length) continue;
    yield startsWithBom(first) ? first.subarray(BOM.length) : first;
    first = null;
  }
  if (first !== null && first.length > 0) yield first;
}
