import { createHash } from 'node:crypto';
import { boundedLru } from './bounded-lru.ts';

// How a public text is sent, and its ETag. Large ones are kept as bytes while there is space: Node copies a string for each
// answer that its reader has not read yet, while the same bytes serve any number of them. And to hash a megabyte for
// its tag takes longer than most requests.

export interface Sendable {
  payload: string | Buffer;
  bytes: number;
  tag: string;
}

/** About as much as the kernel buffers per connection: a shorter text rarely waits in our memory. */
export const LARGE_BYTES = 64 * 1_024;
/** The documents and the largest pages, and large results that are read often. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

const kept = boundedLru<Sendable>(MAX_KEPT_BYTES);

export function sendable(text: string): Sendable {
  if (text.length < LARGE_BYTES) return { payload: text, bytes: Buffer.byteLength(text), tag: tagOf(text) };
  const known = kept.get(text);
  if (known !== undefined) return known;
  const payload = Buffer.from(text);
  const made = { payload, bytes: payload.length, tag: tagOf(text) };
  // The key is kept too, and takes up to two bytes per character.
  kept.set(text, made, payload.length + 2 * text.length);
  return made;
}

export const tagOf = (body: string): string =>
  `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
