import { sql } from 'kysely';
import { withLock } from './locks.ts';
import type { Storage } from './open-storage.ts';
import { newestReceiptDay, type StoredReceiptDay } from './receipts.ts';

// Closes UTC days of receipts, in short statements. One process at a time.

const LOCK_TERM_MS = 10_000;
/** Leaves of one statement: a multiple of the 256 of a page. */
const MAX_LEAVES = 80 * 256;

/** Seals what is over; returns the days, oldest first. Null when another process is at it. */
export async function sealReceipts(storage: Storage, maxLeaves = MAX_LEAVES): Promise<StoredReceiptDay[] | null> {
  const sealed: StoredReceiptDay[] = [];
  const isOurs = await withLock(storage, 'receipts', LOCK_TERM_MS, async () => {
    for (;;) {
      const { rows } = await sql<{ step: 'page' | 'day' | null }>`
        select seal_receipts(${maxLeaves}) as step`.execute(storage.db);
      const { step } = rows[0]!;
      if (step === null) return;
      if (step === 'day') sealed.push((await newestReceiptDay(storage))!);
    }
  });
  return isOurs ? sealed : null;
}
