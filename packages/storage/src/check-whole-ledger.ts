import { type RawBuilder, sql } from 'kysely';
import type { LedgerViolation } from './check-ledger.ts';
import type { Queries } from './open-storage.ts';

// Reads everything: each closed page and its seal, each poll, each payment, and then what `checkLedger` reads. It
// writes nothing, so it may run on a replica, and it reads in chunks. Closed parts cannot change between two chunks;
// every other rule is checked by one statement.

export interface LedgerCheckStep {
  step: 'pages' | 'days' | 'polls' | 'batches' | 'limits' | 'keys' | 'usage' | 'payments' | 'open part';
  done: number;
  of: number;
}

const POLLS_PER_CHUNK = 20_000;
const BATCHES_PER_CHUNK = 10;
const LIMITS_PER_CHUNK = 5_000;
const HOURS_OF_KEYS = 26;

export async function* checkWholeLedger({ db }: Queries): AsyncGenerator<LedgerCheckStep, LedgerViolation[]> {
  const violations: LedgerViolation[] = [];
  const add = async (check: RawBuilder<unknown>): Promise<void> => {
    const { rows } = await sql<LedgerViolation>`select rule, subject, found from ${check}`.execute(db);
    violations.push(...rows);
  };
  const list = async <Value>(query: RawBuilder<{ value: Value }>): Promise<Value[]> =>
    (await query.execute(db)).rows.map(({ value }) => value);

  const pages = await list(sql<{ value: bigint }>`select last_id as value from ledger_pages order by last_id`);
  for (const [index, page] of pages.entries()) {
    await add(sql`check_page(${page})`);
    yield { step: 'pages', done: index + 1, of: pages.length };
  }
  await add(sql`check_seals('-infinity', 'infinity')`);
  await add(sql`check_sums()`);
  yield { step: 'days', done: 1, of: 1 };

  const [polls] = await list(sql<{ value: number }>`
    select coalesce(sum(greatest(reltuples, 0)), 0)::float8 as value
      from pg_class join pg_inherits on inhrelid = oid where inhparent = 'polls'::regclass`);
  const chunks = Math.ceil(polls! / POLLS_PER_CHUNK);
  let after = '';
  for (let chunk = 1; ; chunk++) {
    const [to] = await list(sql<{ value: string }>`
      select id as value from polls where id > ${after} order by id offset ${POLLS_PER_CHUNK} limit 1`);
    await add(sql`check_polls(${after}, ${to ?? AFTER_ALL_IDS})`);
    yield { step: 'polls', done: chunk, of: Math.max(chunk, chunks) };
    if (to === undefined) break;
    after = to;
  }

  const batches = await list(sql<{ value: string }>`
    select id as value from (select id, row_number() over (order by id) as place from batches) b
     where place % ${BATCHES_PER_CHUNK}::integer = 0 order by id`);
  for (const [index, to] of [...batches, AFTER_ALL_IDS].entries()) {
    await add(sql`check_batches(${batches[index - 1] ?? ''}, ${to})`);
    yield { step: 'batches', done: index + 1, of: batches.length + 1 };
  }

  const limits = await list(sql<{ value: string }>`
    select key_id as value from (select key_id, row_number() over (order by key_id) as place from key_limits) l
     where place % ${LIMITS_PER_CHUNK}::integer = 1 order by key_id`);
  for (const [index, from] of limits.entries()) {
    const to = limits[index + 1] ?? null;
    await add(sql`check_limits_of(array(
      select key_id from key_limits where key_id >= ${from} and (${to}::uuid is null or key_id < ${to}::uuid)))`);
    yield { step: 'limits', done: index + 1, of: limits.length };
  }
  await add(sql`check_keys('-infinity', now())`);
  for (let hour = 0; hour < HOURS_OF_KEYS; hour++) {
    const from = sql`now() + ${hour} * interval '1 hour'`;
    await add(
      sql`check_keys(${from}, ${hour === HOURS_OF_KEYS - 1 ? sql`'infinity'` : sql`${from} + interval '1 hour'`})`,
    );
    yield { step: 'keys', done: hour + 1, of: HOURS_OF_KEYS };
  }
  const days = await list(sql<{ value: string }>`
    select day::text as value from (select day from ledger_pages union select day from usage_days
                                    union select (now() at time zone 'utc')::date) d order by day`);
  for (const [index, day] of days.entries()) {
    await add(sql`check_usage(${day})`);
    yield { step: 'usage', done: index + 1, of: days.length };
  }
  await add(sql`check_usage_months()`);
  await add(sql`check_payments()`);
  yield { step: 'payments', done: 1, of: 1 };
  await add(sql`check_ledger()`);
  yield { step: 'open part', done: 1, of: 1 };
  return distinct(violations);
}

const AFTER_ALL_IDS = '\u{10ffff}';

/** Several checks may report the same damage near the end of the books. */
function distinct(violations: readonly LedgerViolation[]): LedgerViolation[] {
  return [...new Map(violations.map((violation) => [JSON.stringify(violation), violation])).values()];
}
