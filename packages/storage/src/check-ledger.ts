import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

/** Something in the books that contradicts a promise of the ledger. */
export interface LedgerViolation {
  rule: string;
  /** The account, poll or transfer it is about. */
  subject: string;
  found: string;
}

/**
 * Audits all books; an empty list means drift 0. Reads every transfer: for a large ledger, open the storage with a
 * longer statement timeout. Operators can run `select * from check_ledger()` in psql instead.
 */
export async function checkLedger({ db }: Queries): Promise<LedgerViolation[]> {
  const { rows } = await sql<LedgerViolation>`select rule, subject, found from check_ledger()`.execute(db);
  return rows;
}
