import type { Metadata, PanelName, PollStatus, ServiceTier } from '@eloquentpoll/contracts';
import { isPaidByPool, pollIdsSince, pollIdsUntil } from '@eloquentpoll/polls';
import { type RawBuilder, sql } from 'kysely';
import { ownsKey } from './api-keys.ts';
import type { Queries } from './open-storage.ts';
import { isInTime } from './polls.ts';
import { pollsWithResults } from './polls-with-results.ts';

// The polls of an account, newest first, page by page: month after month, and in each in the order of their time. One filter
// chooses the index that is read in that order; the others are applied to what it finds. A page reads a bounded number of
// rows however rarely they match, and no month after the one in which it is full.

/** Rows that one page reads where a filter has no index; of ten million polls each may lie elsewhere. */
const MAX_SCANNED = 700;

export interface PollFilter {
  status?: PollStatus | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
  preset?: PanelName | undefined;
  keyId?: string | undefined;
  isClose?: boolean | undefined;
  metadata?: Metadata | undefined;
  hasEnded?: true | undefined;
  isTie?: true | undefined;
  /** The question contains this text, in any case of its letters. */
  text?: string | undefined;
}

export interface PollPageTerms {
  limit: number;
  /** From this poll of the account on, without it; from the end of the list where it is null. */
  from?: { pollId: string | null; direction: 'older' | 'newer' } | undefined;
}

export interface PollLine {
  pollId: string;
  status: PollStatus;
  resultId: string | null;
  question: string;
  panelName: PanelName;
  serviceTier: ServiceTier;
  metadata: Metadata | null;
  keyId: string | null;
  winningOption: string | null;
  isTie: boolean;
  isClose: boolean;
  /** Null while it runs; nothing for a poll of the free pool. */
  costU: bigint | null;
  createdAt: Date;
  finishedAt: Date | null;
  /** Null where it is kept until it is deleted. */
  expiresAt: Date | null;
}

export interface PollPage {
  /** Newest first. */
  lines: PollLine[];
  /** Where to go on in the direction of the page; null at the end of the list. */
  goOn: string | null;
  /** How many polls were looked at, and when the last of them was accepted. */
  looked: { polls: number; until: Date | null };
}

/** Null when `from` names no poll of the account. */
export async function listPolls(
  queries: Queries,
  accountId: string,
  filter: PollFilter,
  { limit, from }: PollPageTerms,
): Promise<PollPage | null> {
  const position = from?.pollId ? await positionOf(queries, accountId, from.pollId) : undefined;
  if (position === null) return null;
  // The index of a key has polls of that key only, whose account is not in it.
  if (filter.keyId !== undefined && !(await ownsKey(queries, accountId, filter.keyId)))
    return { lines: [], goOn: null, looked: { polls: 0, until: null } };
  const isOlder = from?.direction !== 'newer';
  const months = await monthsOf(queries, filter, isOlder, position);
  const { sizes, scan } = scanOf(accountId, filter, { limit, isOlder });
  const rows = await walk(queries, months, { sizes, limit, scan, position });
  const found = rows.filter(({ fits }) => fits).map(({ id }) => id);
  const shown = found.slice(0, limit);
  const lines = toLines(await lineColumns(queries, shown).execute(), shown);
  if (!isOlder) lines.reverse();
  const last = rows.at(-1);
  const looked = { polls: last?.place ?? 0, until: last?.createdAt ?? null };
  if (found.length > limit) return { lines, goOn: shown.at(-1)!, looked };
  return { lines, goOn: last && last.place === sizes.at(-1) ? last.id : null, looked };
}

interface Position {
  pollId: string;
  createdAt: string;
}

interface ScannedRow {
  id: string;
  createdAt: Date;
  /** The same as a text: a Date has no microseconds. */
  at: string;
  fits: boolean;
  /** From 1, in the order of the page. */
  place: number;
}

/** What the ids of its polls lie between. */
interface Month {
  since: string;
  until: string;
}

/** From the position on, where that is in the month. */
type Scan = (month: Month, maxRows: number, position?: Position) => RawBuilder<ScannedRow>;

interface Walk {
  /** How many rows are read at first, and in all. */
  sizes: readonly number[];
  limit: number;
  scan: Scan;
  position?: Position | undefined;
}

/** Month after month, each row once, until the page is full or so many rows are read: of the months after that nothing is. */
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

/** Of the rows that a page reads in a month those that fit the filter, and the last one, in any order. */
export function scanOf(
  accountId: string,
  filter: PollFilter,
  { limit, isOlder }: { limit: number; isOlder: boolean },
): { sizes: number[]; scan: Scan } {
  const { source, rest } = planOf(accountId, filter);
  const order = isOlder ? sql`desc` : sql`asc`;
  const side = isOlder ? sql`<` : sql`>`;
  const choosesAmong = rest.length > 0 || filter.isTie === true;
  // Most filters match often: many rows are read only where a few have too few that fit.
  const sizes = choosesAmong ? [Math.min(2 * (limit + 1), MAX_SCANNED), MAX_SCANNED] : [limit + 1];
  // The comment leaves it without a name: a plan for any month would be one for all of them.
  const scan: Scan = (month, maxRows, position) => sql`/* of one month */
    with scanned as materialized (
      select ${source.id} as id, created_at,
             ${choosesAmong ? source.fits([...rest, ...(filter.isTie ? [isTieOf(month)] : [])], month) : sql`true`} as fits,
             row_number() over (order by created_at ${order}, ${source.id} ${order})::integer as place
        from ${source.from}
       where ${allOf([
         ...source.where,
         ...rangeOf(filter),
         isIn(month, source.id),
         ...(position && month.since <= position.pollId && position.pollId < month.until
           ? [sql`(created_at, ${source.id}) ${side} (${position.createdAt}::timestamptz, ${position.pollId})`]
           : []),
       ])}
       order by created_at ${order}, ${source.id} ${order}
       limit ${maxRows})
    select id, created_at as "createdAt", created_at::text as "at", fits, place from scanned
     where fits or place = (select max(place) from scanned)`;
  return { sizes, scan };
}

/** Those that the page may be of, in its order. */
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
      // As a text: a Date has no microseconds.
      sql<string>`created_at::text`.as('createdAt'),
      // One that was deleted since it was on a page has no account; its place is still known.
      sql<boolean>`not spec ? 'question'`.as('isEmpty'),
    ])
    .where('id', '=', pollId)
    .executeTakeFirst();
  return row && (row.account_id === accountId || row.isEmpty) ? { pollId, createdAt: row.createdAt } : null;
}

type Sql = RawBuilder<unknown>;

/** What is read in the order of the list. */
interface Source {
  from: Sql;
  id: Sql;
  where: Sql[];
  /** Whether a row of it, which is of the month, fits conditions on its poll. */
  fits(conditions: readonly Sql[], month: Month): Sql;
}

const allOf = (conditions: readonly Sql[]): Sql => sql.join([...conditions], sql` and `);

/** Said of each id, also where it equals one that is: the planner knows by bounds alone which partition has it. */
const isIn = ({ since, until }: Month, id: Sql): Sql => sql`${id} >= ${since} and ${id} < ${until}`;

const isTieOf = (month: Month): Sql =>
  sql`coalesce((select is_tie from results where poll_id = polls.id and ${isIn(month, sql`poll_id`)}), false)`;

/** The index with the fewest rows first: a pair of metadata, close calls, failed and running polls, a key. */
function planOf(
  accountId: string,
  { status, preset, keyId, isClose, metadata, hasEnded, isTie, text }: PollFilter,
): { source: Source; rest: Sql[] } {
  const [pair, ...pairs] = Object.entries(metadata ?? {});
  const conditions = {
    // Every tie is close.
    close: isClose === true || isTie ? sql`polls.is_close` : null,
    // Literals, so that the planner can use a partial index.
    failed: status === 'failed' ? sql`polls.status = 'failed'` : null,
    running: status === 'running' ? sql`polls.status = 'running' and polls.tenant = ${accountId}` : null,
    key: keyId === undefined ? null : sql`polls.key_id = ${keyId}::uuid`,
    completed: status === 'completed' ? sql`polls.status = 'completed'` : null,
    notClose: isClose === false ? sql`not polls.is_close` : null,
    ended: hasEnded ? sql`polls.status <> 'running'` : null,
    pairs: pairs.length === 0 ? null : sql`polls.metadata @> ${JSON.stringify(Object.fromEntries(pairs))}::jsonb`,
    // What reads more than the row comes last.
    preset: preset === undefined ? null : sql`polls.spec ->> 'panel_name' = ${preset}`,
    text: text === undefined ? null : sql`strpos(lower(polls.spec ->> 'question'), lower(${text})) > 0`,
  };
  const { close, failed, running, key } = conditions;
  const asked = Object.values(conditions).filter((condition) => condition !== null);
  if (pair) return { source: labelled(accountId, pair), rest: asked };
  const first = close ?? failed ?? running ?? key;
  // Of a tenant and of a key all polls are the account's; said again, it would invite the planner to the larger index.
  const isOfAccount = first !== null && (first === running || first === key);
  const where = [...(isOfAccount ? [] : [sql`account_id = ${accountId}::uuid`]), ...(first ? [first] : [])];
  const source: Source = { from: sql`polls`, id: sql`id`, where, fits: allOf };
  return { source, rest: asked.filter((condition) => condition !== first) };
}

const labelled = (accountId: string, [key, value]: [string, string]): Source => ({
  from: sql`poll_labels`,
  id: sql`poll_id`,
  where: [sql`account_id = ${accountId}::uuid`, sql`label = label_of(${key}, ${value})`],
  // Not `exists`, which the planner may answer with a hash of the whole table.
  fits: (conditions, month) =>
    sql`coalesce((select ${allOf(conditions)} from polls where id = poll_id and ${isIn(month, sql`id`)}), false)`,
});

function rangeOf({ createdAfter, createdBefore }: PollFilter): Sql[] {
  return [
    ...(createdAfter ? [sql`created_at >= ${createdAfter}`] : []),
    ...(createdBefore ? [sql`created_at < ${createdBefore}`] : []),
  ];
}

/** Those of these polls that the account has, in the order of the ids. */
export async function findPollLines(
  queries: Queries,
  accountId: string,
  pollIds: readonly string[],
): Promise<PollLine[]> {
  return toLines(await lineColumns(queries, pollIds).where('polls.account_id', '=', accountId).execute(), pollIds);
}

/** Without those whose time is over. */
const lineColumns = (queries: Queries, pollIds: readonly string[]) =>
  pollsWithResults(queries, pollIds)
    .select([
      'polls.id',
      'polls.status',
      'polls.lane',
      'polls.metadata',
      'polls.key_id',
      'polls.is_close',
      'polls.entry_point',
      'polls.created_at',
      'polls.finished_at',
      'polls.expires_at',
      'results.result_id',
      'results.winning_option',
      'results.is_tie',
      'results.total_cost_u',
      sql<string>`polls.spec ->> 'question'`.as('question'),
      sql<PanelName>`polls.spec ->> 'panel_name'`.as('panel_name'),
    ])
    .where(isInTime);

/** In the order of the ids. */
function toLines(
  rows: Awaited<ReturnType<ReturnType<typeof lineColumns>['execute']>>,
  pollIds: readonly string[],
): PollLine[] {
  const place = new Map(pollIds.map((id, i) => [id, i]));
  rows.sort((a, b) => place.get(a.id)! - place.get(b.id)!);
  return rows.map((row) => ({
    pollId: row.id,
    status: row.status,
    resultId: row.result_id,
    question: row.question,
    panelName: row.panel_name,
    serviceTier: row.lane,
    metadata: row.metadata,
    keyId: row.key_id,
    winningOption: row.winning_option,
    isTie: row.is_tie ?? false,
    isClose: row.is_close,
    costU:
      row.status === 'running' ? null : isPaidByPool(row.panel_name, row.entry_point) ? 0n : (row.total_cost_u ?? 0n),
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    expiresAt: row.expires_at,
  }));
}
