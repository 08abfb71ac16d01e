import { createReadStream } from 'node:fs';
import { appendFile, truncate } from 'node:fs/promises';
import { splitLines, type TextLine } from '../split-lines.ts';
import { UsageError } from './usage-error.ts';

// Prepares a file of JSON lines that an interrupted command left, so that it can be completed.

/**
 * Truncates the file after the last complete line that `isKept` accepts. Creates it if it is missing. Reads lines in
 * order until one is no JSON object. If `isFirst` rejects the first line, the file is something else and stays
 * unchanged.
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
    // An incomplete first line is removed too.
    const isCut = value === null && !line.hasEnd && line.text?.startsWith('{');
    if (!isAny && isFirst && !isCut && (value === null || !isFirst(value)))
      throw new UsageError(`${path} has other content. Name another file with --out, or remove it.`);
    isAny = true;
    if (value === null) break;
    if (isKept(value)) kept = line;
  }
  await truncate(path, kept?.endsAt ?? 0);
  // A last line without a line ending counts as complete.
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
