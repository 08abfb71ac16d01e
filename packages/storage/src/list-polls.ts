import { pollIdsSince, pollIdsUntil } from '@eloquentpoll/polls';
import { sql } from 'kysely';
import { ownsKey } from './api-keys.ts';
import type { Queries } from './open-storage.ts';
import { type PollLine, readPollLines } from './poll-lines.ts';
import { type Month, type PollFilter, type Position, type Scan, type ScannedRow, scanOf } from './scan-polls.ts';

// The polls of an account, newest first, page by page, month by month. A page reads a bounded number of rows however
// rarely they match, and stops at the month in which it is full.

export interface PollPageTerms {
  limit: number;
  /** Continues from this poll of the account, without including it; null: from the end of the list. */
  from?: { pollId: string | null; direction: 'older' | 'newer' } | undefined;
}

export interface PollPage {
  /** Newest first. */
  lines: PollLine[];
  /** Where to continue in the direction of the page; null at the end of the list. */
  goOn: string | null;
  /** How many polls were examined, and when the last of them was accepted. */
  looked: { polls: number; until: Date | null };
}

/** Null if `from` is not a poll of the account. */
export async function listPolls(
  queries: Queries,
  accountId: string,
  filter: PollFilter,
  { limit, from }: PollPageTerms,
): Promise<PollPage | null> {
  const position = from?.pollId ? await positionOf(queries, accountId, from.pollId) : undefined;
  if (position === null) return null;
  // The index by key does not contain the account, so check that the key belongs to it.
  if (filter.keyId !== undefined && !(await ownsKey(queries, accountId, filter.keyId)))
    return { lines: [], goOn: null, looked: { polls: 0, until: null } };
  const isOlder = from?.direction !== 'newer';
  const months = await monthsOf(queries, filter, isOlder, position);
  const { sizes, scan } = scanOf(accountId, filter, { limit, isOlder });
  const rows = await walk(queries, months, { sizes, limit, scan, position });
  const found = rows.filter(({ fits }) => fits).map(({ id }) => id);
  const shown = found.slice(0, limit);
  const lines = await readPollLines(queries, shown);
  if (!isOlder) lines.reverse();
  const last = rows.at(-1);
  const looked = { polls: last?.place ?? 0, until: last?.createdAt ?? null };
  if (found.length > limit) return { lines, goOn: shown.at(-1)!, looked };
  return { lines, goOn: last && last.place === sizes.at(-1) ? last.id : null, looked };
}

interface Walk {
  /** How many rows are read at first, and in total. */
  sizes: readonly number[];
  limit: number;
  scan: Scan;
  position?: Position | undefined;
}

/** Reads month by month, each row once, until the page is full or the maximum number of rows is read. */
async function walk({ db }: Queries, months: readonly Month[], { sizes, limit, scan, position }: Walk) {
  const rows: ScannedRow[] = [];
  const isFull = () => rows.filter(({ fits }) => fits).length > limit;
  let from = position;
  for (const month of months) {
    for (let mayHaveMore = true; mayHaveMore && !isFull(); ) {
      const read = rows.at(-1)?.place ?? 0;
      const size = sizes.find((rowsInAll) => rowsInAll > read);
      if (size === undefined) return rows;
      const found = (await scan(month, size - read, from).execute(db)).rows.toSorted((a, b) => a.place - b.place);
      rows.push(...found.map((row) => ({ ...row, place: read + row.place })));
      const last = found.at(-1);
      if (last) from = { pollId: last.id, createdAt: last.at };
      mayHaveMore = last?.place === size - read;
    }
  }
  return rows;
}

/** The months that the page may contain, in the order of the page. */
async function monthsOf(
  { db }: Queries,
  { createdAfter, createdBefore }: PollFilter,
  isOlder: boolean,
  position?: Position,
): Promise<Month[]> {
  const before = pollIdsUntil(createdBefore ?? new Date());
  return db
    .selectFrom('months')
    .select(['first_poll as since', 'next_poll as until'])
    .where(sql<boolean>`has_polls(months)`)
    .where('first_poll', '<', before)
    .$if(createdAfter !== undefined, (months) => months.where('next_poll', '>', pollIdsSince(createdAfter!)))
    .$if(position !== undefined && isOlder, (months) => months.where('first_poll', '<=', position!.pollId))
    .$if(position !== undefined && !isOlder, (months) => months.where('next_poll', '>', position!.pollId))
    .orderBy('first_poll', isOlder ? 'desc' : 'asc')
    .execute();
}

async function positionOf({ db }: Queries, accountId: string, pollId: string): Promise<Position | null> {
  const row = await db
    .selectFrom('polls')
    .select([
      'account_id',
      // As text: a Date has no microseconds.
      sql<string>`created_at::text`.as('createdAt'),
      // A poll that was deleted after it was on a page has no account, but its position is still known.
      sql<boolean>`not spec ? 'question'`.as('isEmpty'),
    ])
    .where('id', '=', pollId)
    .executeTakeFirst();
  return row && (row.account_id === accountId || row.isEmpty) ? { pollId, createdAt: row.createdAt } : null;
}
