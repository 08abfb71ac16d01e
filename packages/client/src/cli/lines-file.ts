import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { UsageError } from './usage-error.ts';

// A file of JSON lines that an interrupted command left, to be completed.

/**
 * Cuts the file after the last line that `isKept` accepts and that is whole; a missing file is made. Lines are given as what
 * they parse to, in their order, until one is no JSON object.
 */
export async function cutToWholeLines(
  path: string,
  isKept: (value: Record<string, unknown>) => boolean,
): Promise<void> {
  await using made = await open(path, 'a').catch((error: Error) => {
    throw new UsageError(`${path} cannot be written: ${error.message}. Name another file with --out.`);
  });
  let read = 0;
  let kept = 0;
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    const value = objectIn(text);
    if (value === null) break;
    read += Buffer.byteLength(text) + 1;
    if (isKept(value)) kept = read;
  }
  await using file = await open(path, 'r+');
  const { size } = await made.stat();
  // A last line without its end is read as a whole one.
  if (size < kept) await file.write('\n', size);
  else await file.truncate(kept);
}

function objectIn(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
