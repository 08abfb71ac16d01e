import { randomFillSync } from 'node:crypto';

// Random bytes are drawn for many ids at once, because calling the generator costs ten times as much as making an id.
const pool = Buffer.alloc(4_096);
let used = pool.length;

/** Returns `count` secure random bytes, valid until the next call. For small counts, as ids and seeds need. */
export function drawnBytes(count: number): Buffer {
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += count;
  return pool.subarray(used - count, used);
}
