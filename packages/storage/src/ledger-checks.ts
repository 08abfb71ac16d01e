import { sql } from 'kysely';
import type { LedgerViolation } from './check-ledger.ts';
import { type Closed, type Closing, closeBooks } from './close-books.ts';
import { withLock } from './locks.ts';
import type { Queries, Storage } from './open-storage.ts';

// Checks the ledger when a check is due, in one process at a time: closes what is final, rereads some closed pages, and
// checks the open part. Attempts are recorded too, so that a failing check is retried less often.

const LOCK_TERM_MS = 60_000;
const VERIFY_FOR_MS = 300;
/** With more open transfers than this, a check would take seconds: it is skipped until more of the books are closed. */
const MAX_OPEN = 40_000;

export interface LedgerRound extends Closed {
  violations: LedgerViolation[];
}

export interface RoundLimits extends Closing {
  maxOpen?: number;
}

/** Null if no check is due or another process is checking. The outcome is stored for all processes. */
export async function checkLedgerInTurn(
  storage: Storage,
  everyMs: number,
  limits: RoundLimits = {},
): Promise<LedgerRound | null> {
  let round: LedgerRound | null = null;
  await withLock(storage, 'ledger', LOCK_TERM_MS, async () => {
    if (!(await begin(storage, everyMs))) return;
    try {
      const closed = await closeBooks(storage, limits);
      await sql`select verify_pages(${VERIFY_FOR_MS})`.execute(storage.db);
      round = { ...closed, violations: await end(storage, null, limits.maxOpen) };
    } catch (error) {
      await end(storage, error instanceof Error ? error.message : String(error)).catch(() => {});
      throw error;
    }
  });
  return round;
}

async function begin({ db }: Queries, everyMs: number): Promise<boolean> {
  const { rows } = await sql<{ due: boolean }>`select begin_ledger_check(${everyMs}) as due`.execute(db);
  return rows[0]!.due;
}

async function end({ db }: Queries, failure: string | null, maxOpen = MAX_OPEN): Promise<LedgerViolation[]> {
  const { rows } = await sql<LedgerViolation>`
    select rule, subject, found from end_ledger_check(${failure}, ${maxOpen})`.execute(db);
  return rows;
}
