import { createHash } from 'node:crypto';
import { boundedLru } from './bounded-lru.ts';
import { htmlToMarkdown } from './html-to-markdown.ts';

// Markdown of public pages, each made once and kept while there is space: a long page takes as much time as hundreds of
// other requests. Pages that only their own reader may see are not kept.

/** Memory limit: a few long pages or a few hundred short ones. */
export const MAX_MARKDOWN_BYTES = 4 * 1024 * 1024;

const kept = boundedLru<string>(MAX_MARKDOWN_BYTES);

/** Like `htmlToMarkdown`, with a cache. */
export function keptMarkdown(page: string, baseUrl: string, make = htmlToMarkdown): string {
  const key = createHash('sha256').update(`${baseUrl}\n`).update(page).digest('base64url');
  const known = kept.get(key);
  if (known !== undefined) return known;
  const text = make(page, baseUrl);
  // Strings take two bytes per character as soon as one character needs two.
  kept.set(key, text, 2 * text.length);
  return text;
}
