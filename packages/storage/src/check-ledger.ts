import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

/** Something in the books that contradicts a promise of the ledger. */
export interface LedgerViolation {
  rule: string;
  /** The account, poll, transfer, page or day it is about. */
  subject: string;
  found: string;
}

/** What contradicts the ledger's rules in its open part, its totals and its newest seal; an empty list means drift 0. */
export async function checkLedger({ db }: Queries): Promise<LedgerViolation[]> {
  const { rows } = await sql<LedgerViolation>`select rule, subject, found from check_ledger()`.execute(db);
  return rows;
}
