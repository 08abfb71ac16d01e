import type { PollStatus } from '@eloquentpoll/contracts';
import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';
import { type Poll, pollColumns, toPoll } from './polls.ts';

// The polls of an account that came as tasks of agents, the last changed first.

/** The entry points of task polls. Tasks that their callers name have their own idempotency namespace. */
export const TASK = 'a2a';
export const NAMED_TASK = 'a2a-named';

/** The task after which a page begins. */
export interface TaskPosition {
  /** When it changed, in microseconds since 1970: more than a Date holds. */
  changedUs: bigint;
  pollId: string;
}

export interface TaskFilter {
  /** Tasks without a context of their own have the poll's id as one. */
  contextId?: string | undefined;
  status?: PollStatus | undefined;
  /** Ended polls that their callers canceled, or all others. */
  isCanceled?: boolean | undefined;
  changedSince?: Date | undefined;
}

export interface TaskPage {
  polls: Poll[];
  /** How many there are on all pages. */
  total: number;
  /** The last one of this page, if there are more. */
  last: TaskPosition | null;
}

const changedAt = sql<Date>`coalesce(finished_at, created_at)`;

export async function listTaskPolls(
  { db }: Queries,
  accountId: string,
  { contextId, status, isCanceled, changedSince }: TaskFilter,
  { limit, after }: { limit: number; after?: TaskPosition | undefined },
): Promise<TaskPage> {
  const matching = pollColumns({ db })
    .where('account_id', '=', accountId)
    // Literals, so that the planner can use the partial index.
    .where(sql<boolean>`entry_point in (${sql.lit(TASK)}, ${sql.lit(NAMED_TASK)})`)
    .$if(contextId !== undefined, (tasks) => tasks.where(sql<boolean>`coalesce(context_id, id) = ${contextId}`))
    .$if(status !== undefined, (tasks) => tasks.where('status', '=', status!))
    .$if(isCanceled === true, (tasks) => tasks.where('canceled_at', 'is not', null).where('status', '<>', 'running'))
    .$if(isCanceled === false, (tasks) => tasks.where('canceled_at', 'is', null))
    .$if(changedSince !== undefined, (tasks) => tasks.where(changedAt, '>=', changedSince!));
  const rows = await matching
    .select(sql<string>`(extract(epoch from ${changedAt}) * 1000000)::bigint::text`.as('changed_us'))
    .$if(after !== undefined, (tasks) =>
      tasks.where(
        sql<boolean>`(${changedAt}, id) < ('epoch'::timestamptz + ${String(after?.changedUs)}::bigint * interval '1 microsecond', ${after?.pollId})`,
      ),
    )
    .orderBy(changedAt, 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  const { total } = await matching
    .clearSelect()
    .select(({ fn }) => fn.countAll<string>().as('total'))
    .executeTakeFirstOrThrow();
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    polls: page.map(toPoll),
    total: Number(total),
    last: last && rows.length > limit ? { changedUs: BigInt(last.changed_us), pollId: last.id } : null,
  };
}
