import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

// Money that moved at the processor or on the chain and that none of our rows explains. Each misfit is stored once and
// stays open until it is explained. A closed transfer stays closed; a card payment can change again and be reopened.

export interface NewMisfit {
  source: 'chain' | 'card';
  /** Identifies the movement; the same each time it is seen. */
  reference: string;
  reason: string;
  amountU: bigint;
  /** What an operator needs to find it. */
  details: Record<string, string>;
}

export interface Misfit extends NewMisfit {
  id: bigint;
  firstSeenAt: Date;
}

/**
 * True if it was not already open. A card payment is reopened if it had matched before, or if it now differs by another
 * amount than the one that an operator ignored.
 */
export async function noteMisfit({ db }: Queries, misfit: NewMisfit): Promise<boolean> {
  const isOpenAgain = sql`m.source = 'card' and (m.closed_as = 'matched' or m.amount_u <> excluded.amount_u)`;
  const { rows } = await sql<{ is_new: boolean }>`
    insert into misfits as m (source, reference, reason, amount_u, details)
    values (${misfit.source}, ${misfit.reference}, ${misfit.reason}, ${misfit.amountU},
            ${JSON.stringify(misfit.details)}::jsonb)
    on conflict on constraint misfits_once do update set last_seen_at = now(),
      reason = excluded.reason, amount_u = excluded.amount_u, details = excluded.details,
      closed_at = case when ${isOpenAgain} then null else m.closed_at end,
      closed_as = case when ${isOpenAgain} then null else m.closed_as end
    returning m.closed_at is null and not exists (
      select from misfits before where before.id = m.id and before.closed_at is null) as is_new`.execute(db);
  return rows[0]!.is_new;
}

/** The reason for money that a closed account received. */
export const CLOSED_ACCOUNT = 'closed_account';

/** Call it in the crediting transaction: an operator has to pay back what a closed account received. */
export async function noteIfClosed(
  queries: Queries,
  { accountId, amountU, source, idem }: { accountId: string; amountU: bigint; source: 'card'; idem: string },
  details: Record<string, string>,
): Promise<void> {
  const closed = await queries.db
    .selectFrom('accounts')
    .select('id')
    .where('id', '=', accountId)
    .where('deleted_at', 'is not', null)
    .where('moved_to', 'is', null)
    .executeTakeFirst();
  if (!closed) return;
  await noteMisfit(queries, {
    ...{ source, amountU, reason: CLOSED_ACCOUNT },
    reference: idem,
    details: { ...details, account_id: accountId },
  });
}

/** False if there is no such open misfit. */
export async function closeMisfit(
  { db }: Queries,
  which: Pick<NewMisfit, 'source' | 'reference'>,
  closedAs: 'matched' | 'ignored',
): Promise<boolean> {
  const row = await db
    .updateTable('misfits')
    .set({ closed_at: sql<Date>`now()`, closed_as: closedAs })
    .where('source', '=', which.source)
    .where('reference', '=', which.reference)
    .where('closed_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Oldest first; with an id, only that misfit. */
export async function openMisfits({ db }: Queries, limit: number, id?: bigint): Promise<Misfit[]> {
  let query = db
    .selectFrom('misfits')
    .select(['id', 'source', 'reference', 'reason', 'amount_u', 'details', 'first_seen_at'])
    .where('closed_at', 'is', null);
  if (id !== undefined) query = query.where('id', '=', id);
  const rows = await query.orderBy('first_seen_at').orderBy('id').limit(limit).execute();
  return rows.map((row) => ({
    id: row.id,
    source: row.source,
    reference: row.reference,
    reason: row.reason,
    amountU: row.amount_u,
    details: row.details,
    firstSeenAt: row.first_seen_at,
  }));
}
