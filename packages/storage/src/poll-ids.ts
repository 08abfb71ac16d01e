import { type RawBuilder, type SqlBool, sql } from 'kysely';

/** The column is one of these ids. */
export const isAmong = (column: 'polls.id' | 'results.poll_id', ids: readonly string[]): RawBuilder<SqlBool> =>
  sql`${sql.ref(column)} = any(${[...ids]}::text[]) and ${isInMonthsOf(column, ids)}`;

/** Bounds that name the months to search: the planner cannot derive them from an array or a join. */
export function isInMonthsOf(column: 'polls.id' | 'results.poll_id', ids: readonly string[]): RawBuilder<SqlBool> {
  const sorted = ids.toSorted();
  return sql`${sql.ref(column)} >= ${sorted[0] ?? ''} and ${sql.ref(column)} <= ${sorted.at(-1) ?? ''}`;
}
