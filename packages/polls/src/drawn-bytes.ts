import { randomFillSync } from 'node:crypto';

// Drawn for many ids at once: a call of the generator costs ten times what is made of it.
const pool = Buffer.alloc(4_096);
let used = pool.length;

/** So many secure random bytes, to be read before the next call; few of them, as ids and seeds take. */
export function drawnBytes(count: number): Buffer {
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += count;
  return pool.subarray(used - count, used);
}
