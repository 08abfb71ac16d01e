import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';
import { isInMonthsOf } from './poll-ids.ts';

/**
 * Each of these polls, and its result where it has one: one row after the other is looked up in its month, which `offset 0` holds
 * the planner to. With a list of ids of a year it expects each of them in each month, and starts processes for a page of 100.
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
