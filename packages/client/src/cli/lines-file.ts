import { createReadStream } from 'node:fs';
import { appendFile, truncate } from 'node:fs/promises';
import { splitLines, type TextLine } from '../split-lines.ts';
import { UsageError } from './usage-error.ts';

// A file of JSON lines that an interrupted command left, to be completed.

/**
 * Cuts the file after the last line that `isKept` accepts and that is whole; a missing file is made. Lines are given as what
 * they parse to, in their order, until one is no JSON object. Where `isFirst` does not know the first line, the file is something
 * else, and stays as it is.
 */
export async function cutToWholeLines(
  path: string,
  isKept: (value: Record<string, unknown>) => boolean,
  isFirst?: (value: Record<string, unknown>) => boolean,
): Promise<void> {
  await appendFile(path, '').catch((error: Error) => {
    throw new UsageError(`${path} cannot be written: ${error.message}. Name another file with --out.`);
  });
  let kept: TextLine | null = null;
  let isAny = false;
  for await (const line of splitLines(createReadStream(path))) {
    const value = objectIn(line.text);
    // A first line that broke off is cut, too.
    const isCut = value === null && !line.hasEnd && line.text?.startsWith('{');
    if (!isAny && isFirst && !isCut && (value === null || !isFirst(value)))
      throw new UsageError(`${path} has something else. Name another file with --out, or remove it.`);
    isAny = true;
    if (value === null) break;
    if (isKept(value)) kept = line;
  }
  await truncate(path, kept?.endsAt ?? 0);
  // A last line without its end is read as a whole one.
  if (kept?.hasEnd === false) await appendFile(path, '\n');
}

function objectIn(text: string | null): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
