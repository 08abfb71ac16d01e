import { createHash } from 'node:crypto';
import { htmlToMarkdown } from './html-to-markdown.ts';

// Markdown of public pages, each made once and kept while there is space: a long page takes as much time as hundreds of
// other requests. Pages that only their own reader may see are not kept.

/** Memory limit: a few long pages or a few hundred short ones. */
export const MAX_MARKDOWN_BYTES = 4 * 1024 * 1024;
/** Memory per kept entry in addition to its text. */
const ENTRY_BYTES = 1_024;

const kept = new Map<string, string>();
let keptBytes = 0;

/** Like `htmlToMarkdown`, with a cache. */
export function keptMarkdown(page: string, baseUrl: string, make = htmlToMarkdown): string {
  const key = createHash('sha256').update(`${baseUrl}\n`).update(page).digest('base64url');
  const known = kept.get(key);
  if (known !== undefined) {
    // Move it to the end, because entries at the start are dropped first.
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

/** Strings take two bytes per character as soon as one character needs two. */
const bytesOf = (text: string): number => 2 * text.length + ENTRY_BYTES;
