import { sql } from 'kysely';
import { type HoldBackRules, holdBack, shrinkHeldBack } from './hold-back.ts';
import { creditAccount, reverseCredit } from './ledger.ts';
import { noteIfClosed } from './misfits.ts';
import type { Queries, Storage } from './open-storage.ts';
import { inTransaction } from './transaction.ts';

// Card payments. The row is written before the processor is called and follows the processor's state afterwards, as does
// the ledger: credited once when it is paid, reversed as far as it was refunded or disputed.

export interface StoredCheckout {
  id: string;
  accountId: string;
  amountCents: number;
  state: 'created' | 'open' | 'credited' | 'expired' | 'moved';
  /** The processor's id of the checkout; null until the processor answered. */
  processorId: string | null;
  reversedCents: number;
  version: number;
}

/** What the processor reports about a payment. */
export interface CheckoutFacts {
  processorId: string;
  paymentIntent: string | null;
  livemode: boolean;
  isPaid: boolean;
  /** It can no longer be paid. */
  isExpired: boolean;
  /** Refunds and disputes that were not won; together at most the amount. */
  reversedCents: number;
}

const columns = ['id', 'account_id', 'amount_cents', 'state', 'processor_id', 'reversed_cents', 'version'] as const;

export async function openCheckout(
  { db }: Queries,
  { accountId, amountCents }: { accountId: string; amountCents: number },
): Promise<string> {
  const row = await db
    .insertInto('checkouts')
    .values({ account_id: accountId, amount_cents: amountCents })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Stores the address of the payment page. */
export async function publishCheckout(
  { db }: Queries,
  id: string,
  page: { processorId: string; url: string; livemode: boolean },
): Promise<void> {
  await db
    .updateTable('checkouts')
    .set({
      processor_id: page.processorId,
      url: page.url,
      livemode: page.livemode,
      state: sql`case state when 'created' then 'open' else state end`,
      version: sql`version + 1`,
      updated_at: sql<Date>`now()`,
    })
    .where('id', '=', id)
    .execute();
}

/** Whether a returning browser may make us ask the processor about this payment: at most once in five seconds. */
export async function claimReturn({ db }: Queries, id: string): Promise<boolean> {
  const row = await db
    .updateTable('checkouts')
    .set({ returned_at: sql<Date>`now()` })
    .where('id', '=', id)
    .where(sql<boolean>`(returned_at is null or returned_at <= now() - interval '5 seconds')`)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Recreates a row that a restore of the database lost, from the processor's data. False if the account was lost as
 * well, or if the row exists after all.
 */
export async function recreateCheckout(
  { db }: Queries,
  lost: { id: string; accountId: string; amountCents: number; processorId: string; livemode: boolean },
): Promise<boolean> {
  const { rows } = await sql`
    insert into checkouts (id, account_id, amount_cents, state, processor_id, livemode)
    select ${lost.id}::uuid, id, ${lost.amountCents}::integer, 'open', ${lost.processorId}, ${lost.livemode}
      from accounts where id = ${lost.accountId}::uuid and kind = 'user'
    on conflict do nothing returning id`.execute(db);
  return rows.length > 0;
}

export async function findCheckout(
  { db }: Queries,
  by: { id: string } | { paymentIntent: string },
): Promise<StoredCheckout | null> {
  const all = db.selectFrom('checkouts').select(columns);
  const one = 'id' in by ? all.where('id', '=', by.id) : all.where('payment_intent', '=', by.paymentIntent);
  const row = await one.executeTakeFirst();
  return row ? toCheckout(row) : null;
}

/** The account's payments of the last day, newest first, for a customer who returns from the processor. */
export async function recentCheckouts({ db }: Queries, accountId: string): Promise<StoredCheckout[]> {
  const rows = await db
    .selectFrom('checkouts')
    .select(columns)
    .where('account_id', '=', accountId)
    .where('processor_id', 'is not', null)
    .where('created_at', '>', sql<Date>`now() - interval '1 day'`)
    .orderBy('created_at', 'desc')
    .limit(5)
    .execute();
  return rows.map(toCheckout);
}

/**
 * Payments that may still be made. Without a processor's id a payment counts for one minute, while its page is opened.
 */
export async function unpaidCheckouts({ db }: Queries, accountId: string): Promise<StoredCheckout[]> {
  const rows = await db
    .selectFrom('checkouts')
    .select(columns)
    .where('account_id', '=', accountId)
    .where('state', 'in', ['created', 'open'])
    .where(sql<boolean>`(processor_id is not null or created_at > now() - interval '1 minute')`)
    .execute();
  return rows.map(toCheckout);
}

/**
 * Updates a payment and the ledger to what the processor reported after `known` was read. 'outdated': the row has
 * changed since then, perhaps to a later report; read both again.
 */
export function followCheckout(
  storage: Storage,
  known: StoredCheckout,
  facts: CheckoutFacts,
  rules: HoldBackRules,
): Promise<'moved' | 'unchanged' | 'outdated'> {
  return inTransaction(storage, async (tx) => {
    const isCredited = known.state === 'credited' || facts.isPaid;
    const state = isCredited ? 'credited' : facts.isExpired ? 'expired' : known.state;
    const reversedCents = isCredited ? facts.reversedCents : 0;
    if (state === known.state && reversedCents === known.reversedCents) return 'unchanged';

    const row = await tx.db
      .updateTable('checkouts')
      .set({
        state,
        processor_id: facts.processorId,
        payment_intent: facts.paymentIntent,
        livemode: facts.livemode,
        reversed_cents: reversedCents,
        version: known.version + 1,
        updated_at: sql<Date>`now()`,
        ...(known.state !== 'credited' && isCredited && { credited_at: sql<Date>`now()` }),
      })
      .where('id', '=', known.id)
      .where('version', '=', known.version)
      .returning('id')
      .executeTakeFirst();
    if (!row) return 'outdated';

    const money = (cents: number, idem: string) => ({
      accountId: known.accountId,
      amountU: BigInt(cents) * U_PER_CENT,
      source: 'card' as const,
      idem: `card:${facts.processorId}${idem}`,
    });
    const credit = async (movement: ReturnType<typeof money>): Promise<boolean> => {
      const isNew = await creditAccount(tx, movement);
      if (isNew) await noteIfClosed(tx, movement, { checkout_id: known.id });
      return isNew;
    };
    const isNew = known.state !== 'credited' && isCredited && (await credit(money(known.amountCents, '')));
    if (isNew) await holdBack(tx, known, rules);
    const more = reversedCents - known.reversedCents;
    if (more > 0) {
      await reverseCredit(tx, money(more, `:reversed:${known.version}`));
      await shrinkHeldBack(tx, known, known.amountCents - reversedCents);
    }
    if (more < 0) await credit(money(-more, `:reinstated:${known.version}`));
    return 'moved';
  });
}

const U_PER_CENT = 10_000n;

/**
 * Unpaid payments to ask the processor about; each is given to one process. The older a payment, the less often it is
 * checked; after a month it expires.
 */
export async function dueCheckouts({ db }: Queries, limit: number): Promise<StoredCheckout[]> {
  await sql`
    update checkouts set state = 'expired', version = version + 1, updated_at = now()
     where state in ('created', 'open')
       and created_at < now() - case when processor_id is null then interval '1 day' else interval '30 days' end`.execute(
    db,
  );
  const rows = await db
    .updateTable('checkouts')
    .set({ checked_at: sql<Date>`now()` })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('checkouts')
        .select('id')
        .where('state', 'in', ['created', 'open'])
        .where('processor_id', 'is not', null)
        .where(sql<boolean>`checked_at <= now() - (now() - created_at) / 20`)
        .orderBy('checked_at')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning(columns)
    .execute();
  return rows.map(toCheckout);
}

interface Row {
  id: string;
  account_id: string;
  amount_cents: number;
  state: StoredCheckout['state'];
  processor_id: string | null;
  reversed_cents: number;
  version: number;
}

function toCheckout(row: Row): StoredCheckout {
  return {
    id: row.id,
    accountId: row.account_id,
    amountCents: row.amount_cents,
    state: row.state,
    processorId: row.processor_id,
    reversedCents: row.reversed_cents,
    version: row.version,
  };
}

/** How much of a payment can be refunded; null if nothing was paid. */
export async function findCheckoutToRefund(
  { db }: Queries,
  id: string,
): Promise<{ accountId: string; processorId: string; paymentIntent: string; leftCents: number } | null> {
  const row = await db
    .selectFrom('checkouts')
    .select(['account_id', 'processor_id', 'payment_intent', 'amount_cents', 'reversed_cents'])
    .where('id', '=', id)
    .where('state', '=', 'credited')
    .executeTakeFirst();
  if (!row || row.processor_id === null || row.payment_intent === null) return null;
  return {
    accountId: row.account_id,
    processorId: row.processor_id,
    paymentIntent: row.payment_intent,
    leftCents: row.amount_cents - row.reversed_cents,
  };
}
