import type { Context } from '../src/context.ts';

const TABLES = ['polls', 'transfers', 'idempotency', 'results', 'votes'] as const;

/** How many rows there are of what a poll leaves behind: equal before and after what must leave nothing. */
export async function stored({ storage }: Context): Promise<Record<string, number>> {
  const counts = await Promise.all(
    TABLES.map(async (table) => {
      const { n } = await storage.db
        .selectFrom(table)
        .select((each) => each.fn.countAll().as('n'))
        .executeTakeFirstOrThrow();
      return [table, Number(n)] as const;
    }),
  );
  return Object.fromEntries(counts);
}
