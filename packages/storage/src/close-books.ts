import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

// Moves the open part of the ledger into closed pages and sealed days. Each step is a short statement of its own, so
// that closing the books holds no snapshot for long.

export interface Closing {
  /** Stop after the step that exceeds this time. */
  forMs?: number;
  /** The minimum size of a page of today, and the maximum size of any page, in transfers. */
  minPage?: number;
  maxPage?: number;
  /** How long to wait for transactions that are writing transfers now. */
  waitMs?: number;
}

export interface Seal {
  day: string;
  /** Chained to the day before. A copy kept elsewhere (in the log) also shows that no seal was replaced. */
  hash: string;
}

export interface Closed {
  pages: number;
  seals: Seal[];
}

const FOR_MS = 1_000;
const MIN_PAGE = 1_000;
/** Each ledger check rereads at least one page, which takes a second if none of it is cached. */
const MAX_PAGE = 5_000;
const WAIT_MS = 500;

/** Closes nothing if a transaction that writes transfers does not end in time. Call it in one process at a time. */
export async function closeBooks(
  { db }: Queries,
  { forMs = FOR_MS, minPage = MIN_PAGE, maxPage = MAX_PAGE, waitMs = WAIT_MS }: Closing = {},
): Promise<Closed> {
  const closed: Closed = { pages: 0, seals: [] };
  const final = await sql<{ id: bigint | null }>`select final_transfer_id(${waitMs}) as id`.execute(db);
  const finalId = final.rows[0]!.id;
  if (finalId === null) return closed;
  const until = performance.now() + forMs;
  do {
    const { rows } = await sql<{ step: 'page' | 'day' | null }>`
      select close_books(${finalId}, ${minPage}, ${maxPage}) as step`.execute(db);
    const { step } = rows[0]!;
    if (step === null) break;
    if (step === 'page') closed.pages += 1;
    else closed.seals.push(await newestSeal({ db }));
  } while (performance.now() < until);
  return closed;
}

async function newestSeal({ db }: Queries): Promise<Seal> {
  const { rows } = await sql<Seal>`
    select day, encode(hash, 'hex') as hash from ledger_seals order by day desc limit 1`.execute(db);
  return rows[0]!;
}
