import { sql } from 'kysely';
import { CLOSED_ACCOUNT } from './misfits.ts';
import type { Queries } from './open-storage.ts';

// Compares the processor's balance with the ledger, payment by payment. Movements are kept, so that all movements of a
// payment can be added up without asking the processor again.

export interface NewCardMovement {
  id: string;
  paymentIntent: string;
  amountCents: number;
  createdAt: Date;
  isOwnPayment: boolean;
}

/** A processor's account may serve other products: only our payments, with their refunds and disputes, are kept. */
export async function storeCardMovements({ db }: Queries, movements: readonly NewCardMovement[]): Promise<void> {
  for (const { id, paymentIntent, amountCents, createdAt, isOwnPayment } of movements) {
    await sql`
      insert into card_movements (id, payment_intent, amount_cents, created_at)
      select ${id}, ${paymentIntent}, ${amountCents}::integer, ${createdAt}::timestamptz
       where ${isOwnPayment}
          or exists (select from card_movements where payment_intent = ${paymentIntent})
          or exists (select from checkouts where payment_intent = ${paymentIntent})
      on conflict (id) do nothing`.execute(db);
  }
}

export interface UnlikePayment {
  paymentIntent: string;
  /** Null where no checkout has this payment. */
  checkout: { id: string; processorId: string; accountId: string } | null;
  /** The net amount at the processor and in the ledger. */
  processorCents: number;
  ledgerCents: number;
}

/**
 * Payments on which processor and ledger disagree, sorted by payment intent. Payments changed after `reached` are left
 * out: their movements have not been read yet.
 */
export async function unlikePayments(
  { db }: Queries,
  { days, reached, after, limit }: { days: number; reached: Date; after: string; limit: number },
): Promise<UnlikePayment[]> {
  const { rows } = await sql<UnlikeRow>`
    with moved as (
      select payment_intent, sum(amount_cents)::integer as cents
        from card_movements where payment_intent > ${after} group by payment_intent),
    kept as (
      select payment_intent, id, processor_id, account_id, updated_at, credited_at,
             case when state = 'credited' then amount_cents - reversed_cents else 0 end as cents
        from checkouts where payment_intent > ${after})
    select payment_intent, k.id, k.processor_id, k.account_id,
           coalesce(m.cents, 0) as processor_cents, coalesce(k.cents, 0) as ledger_cents
      from moved m full join kept k using (payment_intent)
     where coalesce(m.cents, 0) <> coalesce(k.cents, 0)
       and (k.id is null or k.updated_at < ${reached})
       and (m.cents is not null or k.credited_at > ${reached}::timestamptz - ${days} * interval '1 day')
     order by payment_intent limit ${limit}`.execute(db);
  return rows.map((row) => ({
    paymentIntent: row.payment_intent,
    checkout:
      row.id === null ? null : { id: row.id, processorId: row.processor_id ?? '', accountId: row.account_id ?? '' },
    processorCents: row.processor_cents,
    ledgerCents: row.ledger_cents,
  }));
}

/**
 * Closes the misfits of payments on which processor and ledger agree by now. It compares again, because a payment that
 * a round did not report may have been left out for a change during the round.
 */
export async function closeAlikeMisfits({ db }: Queries): Promise<void> {
  await sql`
    update misfits set closed_at = now(), closed_as = 'matched'
     where source = 'card' and closed_at is null and reason <> ${CLOSED_ACCOUNT}
       and coalesce((select sum(amount_cents) from card_movements where payment_intent = reference), 0)
         = coalesce((select case when state = 'credited' then amount_cents - reversed_cents else 0 end
                       from checkouts where payment_intent = reference), 0)`.execute(db);
}

interface UnlikeRow {
  payment_intent: string;
  id: string | null;
  processor_id: string | null;
  account_id: string | null;
  processor_cents: number;
  ledger_cents: number;
}
