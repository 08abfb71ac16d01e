import type { LimitReset } from '@eloquentpoll/contracts';
import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

// What the polls of an API key may be charged per period. The SQL functions take_key_limit and settle_key_limit count
// it, in the transactions that set money aside and end polls.

export interface KeyLimitTerms {
  /** Null: no limit. */
  limitU: bigint | null;
  /** At midnight UTC, daily or on the first of a month. */
  reset: LimitReset;
}

export interface KeyLimit extends KeyLimitTerms {
  limitU: bigint;
  /** Charged since the last reset. */
  spentU: bigint;
  /** Set aside for running polls. */
  heldU: bigint;
  /** Null if it is never reset. */
  resetsAt: Date | null;
}

/** For a query that joins `key_limits`. */
export const limitColumns = [
  'key_limits.limit_u',
  'key_limits.reset',
  'key_limits.held_u',
  sql<bigint | null>`case when period < key_period(reset) then 0 else spent_u end`.as('spent_u'),
  sql<Date | null>`key_resets_at(reset)`.as('resets_at'),
] as const;

export interface LimitRow {
  limit_u: bigint | null;
  reset: LimitReset | null;
  held_u: bigint | null;
  spent_u: bigint | null;
  resets_at: Date | null;
}

export const toKeyLimit = (row: LimitRow): KeyLimit | null =>
  row.limit_u === null
    ? null
    : {
        limitU: row.limit_u,
        reset: row.reset!,
        spentU: row.spent_u!,
        heldU: row.held_u!,
        resetsAt: row.resets_at,
      };

/** Null for a key without a limit. */
export async function findKeyLimit({ db }: Queries, keyId: string): Promise<KeyLimit | null> {
  const row = await db.selectFrom('key_limits').select(limitColumns).where('key_id', '=', keyId).executeTakeFirst();
  return row ? toKeyLimit(row) : null;
}

/** What the key has already spent in the period, and what its running polls hold, counts too. */
export async function setKeyLimit(
  { db }: Queries,
  { accountId, keyId, limitU, reset }: KeyLimitTerms & { accountId: string; keyId: string },
): Promise<void> {
  await sql`select set_key_limit(${accountId}, ${keyId}, ${limitU}, ${reset})`.execute(db);
}

export interface KeySpend {
  todayU: bigint;
  /** Including today. */
  monthU: bigint;
}

/** What each key of the account was charged on this UTC day and in this month. Keys without charges are missing. */
export async function readKeySpend({ db }: Queries, accountId: string): Promise<Map<string, KeySpend>> {
  const { rows } = await sql<{ key_id: string; today_u: bigint; month_u: bigint }>`
    select key_id, coalesce(sum(cost_u) filter (where day = key_period('daily')), 0)::bigint as today_u,
           sum(cost_u)::bigint as month_u
      from usage_days where account_id = ${accountId} and day >= key_period('monthly')
     group by key_id`.execute(db);
  return new Map(rows.map(({ key_id, today_u, month_u }) => [key_id, { todayU: today_u, monthU: month_u }]));
}
