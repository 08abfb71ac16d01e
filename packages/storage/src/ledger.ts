import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';
import { FUNDING, type FundingSource } from './system-accounts.ts';

// Money in integer micro-USD. Transfers are only ever added, each under a unique `idem`, so repeating a call changes
// nothing. The arithmetic is done by the SQL functions of migration 0002, next to the rows that they lock.

export interface LedgerBalance {
  postedU: bigint;
  heldU: bigint;
  /** Set aside for open batches, in addition to what their running polls hold. */
  reservedU: bigint;
  /** Not set aside; below zero after a reversal of money that was already spent. */
  availableU: bigint;
  /** The part of `availableU` that comes from card payments that have not settled; no hold takes it. */
  heldBackU: bigint;
  /** Everything captured so far, in all cells. */
  usageU: bigint;
  /** The account's owner wants to be notified when less than this is posted. */
  lowU: bigint | null;
}

export interface Movement {
  accountId: string;
  amountU: bigint;
  source: FundingSource;
  /** Identifies the outside event, for example `card:cs_…`; one event moves money once. */
  idem: string;
}

export async function balanceOf({ db }: Queries, accountId: string): Promise<LedgerBalance | null> {
  const row = await db
    .selectFrom('balances')
    .select(['posted_u', 'held_u', 'used_u', 'held_back_u', 'reserved_u', 'low_balance_u', 'used_elsewhere_u'])
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  if (!row) return null;
  return {
    postedU: row.posted_u,
    heldU: row.held_u,
    reservedU: row.reserved_u,
    availableU: row.posted_u - row.held_u - row.reserved_u,
    heldBackU: row.held_back_u,
    usageU: row.used_u + row.used_elsewhere_u,
    lowU: row.low_balance_u,
  };
}

/** true if the money moved now, false if this `idem` had moved it before. */
export function creditAccount({ db }: Queries, { accountId, amountU, source, idem }: Movement): Promise<boolean> {
  return outcome(
    sql`select ledger_move('credit', ${accountId}, ${FUNDING[source]}, ${amountU}, ${idem}) as done`.execute(db),
  );
}

/** Takes back a credit (refund, dispute), even below zero: the books stay true, and new holds are refused. */
export function reverseCredit({ db }: Queries, { accountId, amountU, source, idem }: Movement): Promise<boolean> {
  return outcome(
    sql`select ledger_move('reversal', ${accountId}, ${FUNDING[source]}, ${amountU}, ${idem}) as done`.execute(db),
  );
}

/** Whether a transfer with this `idem` exists. */
export async function isBooked({ db }: Queries, idem: string): Promise<boolean> {
  const row = await db.selectFrom('transfers').select('id').where('idem', '=', idem).executeTakeFirst();
  return row !== undefined;
}

/** Sets money aside. false if the account cannot cover it. */
export function hold(
  { db }: Queries,
  { accountId, amountU, idem }: { accountId: string; amountU: bigint; idem: string },
): Promise<boolean> {
  return outcome(sql`select ledger_hold(${accountId}, ${amountU}, ${idem}, null) as done`.execute(db));
}

/** Captures part of a hold and releases the rest. false if the hold was resolved before. */
export function capture({ db }: Queries, holdIdem: string, amountU: bigint): Promise<boolean> {
  return outcome(sql`select ledger_resolve(${holdIdem}, ${amountU}) as done`.execute(db));
}

/** Releases a hold. false if it was resolved before. */
export function voidHold(queries: Queries, holdIdem: string): Promise<boolean> {
  return capture(queries, holdIdem, 0n);
}

async function outcome(result: Promise<{ rows: unknown[] }>): Promise<boolean> {
  const { rows } = await result;
  return (rows[0] as { done: boolean }).done;
}
