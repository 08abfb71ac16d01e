import { createHash } from 'node:crypto';
import { htmlToMarkdown } from './html-to-markdown.ts';

// Markdown of public pages, each made once and kept while there is space: that of a long page takes as long as hundreds
// of other requests. Pages that only their reader may see are not kept.

/** What it takes in memory, so not more than a few long pages or a few hundred short ones. */
export const MAX_MARKDOWN_BYTES = 4 * 1024 * 1024;
/** What keeping one takes beside its text. */
const ENTRY_BYTES = 1_024;

const kept = new Map<string, string>();
let keptBytes = 0;

/** As `htmlToMarkdown`. */
export function keptMarkdown(page: string, baseUrl: string, make = htmlToMarkdown): string {
  const key = createHash('sha256').update(`${baseUrl}\n`).update(page).digest('base64url');
  const known = kept.get(key);
  if (known !== undefined) {
    // Moved to the end: the first are dropped.
    kept.delete(key);
    kept.set(key, known);
    return known;
  }
  const text = make(page, baseUrl);
  if (bytesOf(text) > MAX_MARKDOWN_BYTES) return text;
  kept.set(key, text);
  keptBytes += bytesOf(text);
  for (const [oldest, dropped] of kept) {
    if (keptBytes <= MAX_MARKDOWN_BYTES) break;
    kept.delete(oldest);
    keptBytes -= bytesOf(dropped);
  }
  return text;
}

/** A character takes two bytes in memory as soon as one of the text does not fit into one. */
const bytesOf = (text: string): number => 2 * text.length + ENTRY_BYTES;
