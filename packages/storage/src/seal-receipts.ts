import { sql } from 'kysely';
import { withLock } from './locks.ts';
import type { Storage } from './open-storage.ts';
import { newestReceiptDay, type StoredReceiptDay } from './receipts.ts';

// Closes UTC days of receipts in short statements, in one process at a time.

const LOCK_TERM_MS = 10_000;
/** Leaves per statement: a multiple of the page size, 256. */
const MAX_LEAVES = 80 * 256;

/** Less than the lock's term, because the lock's transaction is idle during the work. */
const WITHIN_MS = 5_000;

interface Sealing {
  maxLeaves?: number;
  lockTermMs?: number;
  withinMs?: number;
}

/**
 * Seals finished days, oldest first, and reports each at once: a later step, even releasing the lock, may fail. `more`:
 * time ran out before the work was done. `busy`: another process is sealing.
 */
export async function sealReceipts(
  storage: Storage,
  onSealed: (day: StoredReceiptDay) => void,
  { maxLeaves = MAX_LEAVES, lockTermMs = LOCK_TERM_MS, withinMs = WITHIN_MS }: Sealing = {},
): Promise<'done' | 'more' | 'busy'> {
  const until = performance.now() + withinMs;
  let isDone = false;
  const isOurs = await withLock(storage, 'receipts', lockTermMs, async () => {
    do {
      const { rows } = await sql<{ step: 'page' | 'day' | null }>`
        select seal_receipts(${maxLeaves}) as step`.execute(storage.db);
      const { step } = rows[0]!;
      isDone = step === null;
      if (step === 'day') onSealed((await newestReceiptDay(storage))!);
    } while (!isDone && performance.now() < until);
  });
  if (!isOurs) return 'busy';
  return isDone ? 'done' : 'more';
}
