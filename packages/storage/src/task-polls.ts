import type { PollStatus } from '@eloquentpoll/contracts';
import { type RawBuilder, sql } from 'kysely';
import type { Queries } from './open-storage.ts';
import { isAmong } from './poll-ids.ts';
import { isInTime, type Poll, pollColumns, toPoll } from './polls.ts';

// The polls of an account that are tasks of agents, last changed first, read in the order of one index. A page and its
// total read a bounded number of rows, however rarely they match a filter.

/** Rows that one page reads if few of them match. */
const MAX_SCANNED = 700;
/** How many of the most recently changed tasks are examined for the total. */
const MAX_COUNTED = 1_000;

/** The entry points of task polls. Tasks that are named by their callers have their own idempotency namespace. */
export const TASK = 'a2a';
export const NAMED_TASK = 'a2a-named';

/** The task before the first one of a page. */
export interface TaskPosition {
  /** When it changed, in microseconds since 1970: a Date has only milliseconds. */
  changedUs: bigint;
  pollId: string;
}

export interface TaskFilter {
  /** The context of a task without its own context is the poll's id. */
  contextId?: string | undefined;
  status?: PollStatus | undefined;
  /** True: ended polls that their callers canceled; false: all others. */
  isCanceled?: boolean | undefined;
  changedSince?: Date | undefined;
}

export interface TaskPage {
  polls: Poll[];
  /** The number of matches on all pages, among the 1,000 most recently changed tasks. */
  total: number;
  /** Where to continue if there may be more: the last task shown on this page, or the last one examined. */
  last: TaskPosition | null;
}

export async function listTaskPolls(
  queries: Queries,
  accountId: string,
  filter: TaskFilter,
  { limit, after }: { limit: number; after?: TaskPosition | undefined },
): Promise<TaskPage> {
  const { scan, count } = taskScans(accountId, filter, after);
  let rows: ScannedTask[] = [];
  let found: ScannedTask[] = [];
  let maxRows = 0;
  // Most filters match often: the long scan is made only if a short one finds too few matches.
  for (maxRows of [Math.min(2 * (limit + 1), MAX_SCANNED), MAX_SCANNED]) {
    rows = (await scan(maxRows).execute(queries.db)).rows.toSorted((a, b) => a.place - b.place);
    found = rows.filter(({ fits }) => fits);
    if (found.length > limit || (rows.at(-1)?.place ?? 0) < maxRows) break;
  }
  const shown = found.slice(0, limit);
  const hasAll = (rows.at(-1)?.place ?? 0) < maxRows;
  const last = found.length > limit ? shown.at(-1) : hasAll ? undefined : rows.at(-1);
  return {
    polls: await pollsOf(queries, shown),
    total: hasAll && after === undefined ? found.length : await totalOf(queries, count),
    last: last ? { changedUs: BigInt(last.changedUs), pollId: last.id } : null,
  };
}

const changedAt = sql<Date>`coalesce(finished_at, created_at)`;

interface ScannedTask {
  id: string;
  changedUs: string;
  fits: boolean;
  /** Position within the page, from 1. */
  place: number;
}

interface TaskScans {
  /** Returns the matching ones among the rows that a page reads, and the last row, in any order. */
  scan(maxRows: number): RawBuilder<ScannedTask>;
  count: RawBuilder<{ total: number }>;
}

export function taskScans(
  accountId: string,
  { contextId, status, isCanceled, changedSince }: TaskFilter,
  after?: TaskPosition,
): TaskScans {
  const tasks = [
    sql`account_id = ${accountId}::uuid`,
    // Literals, so that the planner can use the partial index.
    sql`entry_point in (${sql.lit(TASK)}, ${sql.lit(NAMED_TASK)})`,
    ...(changedSince ? [sql`${changedAt} >= ${changedSince}`] : []),
  ];
  const fits = allOf([
    isInTime,
    ...(contextId === undefined ? [] : [sql`coalesce(context_id, id) = ${contextId}`]),
    ...(status === undefined ? [] : [sql`status = ${status}`]),
    ...(isCanceled === true ? [sql`canceled_at is not null and status <> 'running'`] : []),
    ...(isCanceled === false ? [sql`canceled_at is null`] : []),
  ]);
  const rest = after
    ? [
        sql`(${changedAt}, id) < ('epoch'::timestamptz + ${String(after.changedUs)}::bigint * interval '1 microsecond', ${after.pollId})`,
      ]
    : [];
  const order = sql`order by ${changedAt} desc, id desc`;
  return {
    scan: (maxRows) => sql`
      with scanned as materialized (
        select id, ${changedAt} as changed_at, ${fits} as fits, row_number() over (${order})::integer as place
          from polls where ${allOf([...tasks, ...rest])} ${order} limit ${maxRows})
      select id, (extract(epoch from changed_at) * 1000000)::bigint::text as "changedUs", fits, place from scanned
       where fits or place = (select max(place) from scanned)`,
    count: sql`
      select (count(*) filter (where fits))::integer as total
        from (select ${fits} as fits from polls where ${allOf(tasks)} ${order} limit ${MAX_COUNTED}) as changed_last`,
  };
}

const allOf = (conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> =>
  sql.join([...conditions], sql` and `);

async function totalOf({ db }: Queries, count: TaskScans['count']): Promise<number> {
  return (await count.execute(db)).rows[0]?.total ?? 0;
}

/** In the order of the rows, without polls deleted since. */
async function pollsOf(queries: Queries, rows: readonly ScannedTask[]): Promise<Poll[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const polls = await pollColumns(queries).where(isAmong('polls.id', ids)).where(isInTime).execute();
  const found = new Map(polls.map((row) => [row.id, toPoll(row)]));
  return ids.flatMap((id) => found.get(id) ?? []);
}
