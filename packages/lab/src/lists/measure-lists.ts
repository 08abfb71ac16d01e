import type { Storage } from '@eloquentpoll/storage';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Stores } from '../fixture/stores.ts';
import type { Chance } from '../terminal/chance.ts';
import { percentile } from '../terminal/table.ts';
import type { ListQuestion } from './list-questions.ts';

export interface Measured {
  readonly name: string;
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

/** Asks one question many times, each time with other random values; the first time does not count. */
export async function timesOf(
  { storage }: Pick<Stores, 'storage'>,
  { name, ask }: ListQuestion,
  times: number,
  chance: Chance,
): Promise<Measured> {
  const draw = (below: number) => chance.whole(0, Math.max(1, Math.floor(below)) - 1);
  const tookMs: number[] = [];
  for (let n = 0; n <= times; n++) {
    const began = performance.now();
    await ask(storage, draw);
    if (n > 0) tookMs.push(performance.now() - began);
  }
  const at = (q: number) => Math.round(10 * (percentile(tookMs, q) ?? 0)) / 10;
  return { name, p50: at(0.5), p95: at(0.95), max: at(1) };
}

/** The query plan of each statement of a question, with what it read. */
export async function plansOf(
  { databaseUrl, query }: Stores,
  { ask }: ListQuestion,
  chance: Chance,
): Promise<string[]> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  const asked: { text: string; values: readonly unknown[] }[] = [];
  const db: Storage['db'] = new Kysely({
    dialect: new PostgresDialect({ pool }),
    log: ({ query: { sql: text, parameters: values } }) => void asked.push({ text, values }),
  });
  try {
    await ask({ db }, (below) => chance.whole(0, Math.max(1, Math.floor(below)) - 1));
    const plans: string[] = [];
    for (const { text, values } of asked) {
      const rows = await query<{ 'QUERY PLAN': string }>(`explain (analyze, buffers) ${text}`, values);
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
    }
    return plans;
  } finally {
    await db.destroy();
  }
}

/** The names of the large tables and of their partitions. */
const LARGE = /^(polls|poll_labels|results|votes|transfers)(_first|_\d{4}_\d\d)?$/;

/** A smaller table is read as fast as its index. */
const MIN_ROWS = 5_000;

/** Large tables, or partitions of them, that a plan reads completely. */
export const scannedWhole = (plan: string): string[] =>
  [...plan.matchAll(/Seq Scan on (\w+)[^\n]*\(actual time=\S+ rows=(\S+)/g)]
    .filter(([, table = '', rows]) => LARGE.test(table) && Number(rows) >= MIN_ROWS)
    .map(([, table = '']) => table);

/** The large tables and partitions that the plans read; without partitions that were pruned or never executed. */
export const partitionsRead = (plans: readonly string[]): Set<string> =>
  new Set(
    plans
      .flatMap((plan) => [...plan.matchAll(/ on (\w+)(?: \w+)? {2}\(cost=[^)]*\) \(actual/g)])
      .map(([, table = '']) => table)
      .filter((table) => LARGE.test(table)),
  );
