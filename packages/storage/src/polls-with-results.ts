import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';
import { isInMonthsOf } from './poll-ids.ts';

/**
 * Each of these polls with its result, if any. `offset 0` forces the planner to look up each row in its month. With ids
 * from a whole year, it would otherwise expect every id in every month and start parallel workers for a page of 100.
 */
export const pollsWithResults = ({ db }: Queries, pollIds: readonly string[]) =>
  db
    .selectFrom(sql<{ id: string }>`unnest(${[...new Set(pollIds)]}::text[])`.as<'wanted'>(sql`wanted (id)`))
    .innerJoinLateral(
      (from) =>
        from
          .selectFrom('polls')
          .selectAll('polls')
          .whereRef('polls.id', '=', 'wanted.id')
          .where(isInMonthsOf('polls.id', pollIds))
          .offset(sql<number>`0`)
          .as('polls'),
      (join) => join.onTrue(),
    )
    .leftJoinLateral(
      (from) =>
        from
          .selectFrom('results')
          .selectAll('results')
          .whereRef('results.poll_id', '=', 'wanted.id')
          .where(isInMonthsOf('results.poll_id', pollIds))
          .offset(sql<number>`0`)
          .as('results'),
      (join) => join.onTrue(),
    );
