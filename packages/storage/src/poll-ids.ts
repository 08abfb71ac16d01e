import { type RawBuilder, type SqlBool, sql } from 'kysely';

/** One of these ids. */
export const isAmong = (column: 'polls.id' | 'results.poll_id', ids: readonly string[]): RawBuilder<SqlBool> =>
  sql`${sql.ref(column)} = any(${[...ids]}::text[]) and ${isInMonthsOf(column, ids)}`;

/** Which months to look into: an array or a join does not say it when the statement is planned. */
export function isInMonthsOf(column: 'polls.id' | 'results.poll_id', ids: readonly string[]): RawBuilder<SqlBool> {
  const sorted = ids.toSorted();
  return sql`${sql.ref(column)} >= ${sorted[0] ?? ''} and ${sql.ref(column)} <= ${sorted.at(-1) ?? ''}`;
}
