import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

/** Something in the books that breaks a rule of the ledger. */
export interface LedgerViolation {
  rule: string;
  /** The account, poll, transfer, page or day concerned. */
  subject: string;
  found: string;
}

/** Violations in the open part of the ledger, its totals and its newest seal; an empty list means drift 0. */
export async function checkLedger({ db }: Queries): Promise<LedgerViolation[]> {
  const { rows } = await sql<LedgerViolation>`select rule, subject, found from check_ledger()`.execute(db);
  return rows;
}
