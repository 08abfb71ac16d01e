import type { Metadata, PanelName, PollStatus } from '@eloquentpoll/contracts';
import { type RawBuilder, sql } from 'kysely';

// One filter determines the index that is read in list order; the others are applied to the rows found.

/** Rows that one page reads for a filter without an index: each row may be on another disk page. */
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
  /** The question contains this text, ignoring case. */
  text?: string | undefined;
}

export interface Position {
  pollId: string;
  createdAt: string;
}

export interface ScannedRow {
  id: string;
  createdAt: Date;
  /** The same time as text: a Date has no microseconds. */
  at: string;
  fits: boolean;
  /** Position within the page, from 1. */
  place: number;
}

/** The bounds of the poll ids of a month. */
export interface Month {
  since: string;
  until: string;
}

/** Starts at the position if it lies in the month. */
export type Scan = (month: Month, maxRows: number, position?: Position) => RawBuilder<ScannedRow>;

/** Reads part of a month for a page. Returns the matching rows, and the last row read, in any order. */
export function scanOf(
  accountId: string,
  filter: PollFilter,
  { limit, isOlder }: { limit: number; isOlder: boolean },
): { sizes: number[]; scan: Scan } {
  const { source, rest } = planOf(accountId, filter);
  const order = isOlder ? sql`desc` : sql`asc`;
  const side = isOlder ? sql`<` : sql`>`;
  const choosesAmong = rest.length > 0 || filter.isTie === true;
  // Most filters match often: the large size is read only if the small one finds too few matches.
  const sizes = choosesAmong ? [Math.min(2 * (limit + 1), MAX_SCANNED), MAX_SCANNED] : [limit + 1];
  // The leading comment keeps the statement unnamed: a cached plan would be for all months instead of this one.
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

type Sql = RawBuilder<unknown>;

/** What is read in list order. */
interface Source {
  from: Sql;
  id: Sql;
  where: Sql[];
  /** Whether a row of the month meets conditions on its poll. */
  fits(conditions: readonly Sql[], month: Month): Sql;
}

const allOf = (conditions: readonly Sql[]): Sql => sql.join([...conditions], sql` and `);

/** Needed for each id column, even if it equals a bounded one: the planner finds the partition only by bounds. */
const isIn = ({ since, until }: Month, id: Sql): Sql => sql`${id} >= ${since} and ${id} < ${until}`;

const isTieOf = (month: Month): Sql =>
  sql`coalesce((select is_tie from results where poll_id = polls.id and ${isIn(month, sql`poll_id`)}), false)`;

/** Tries the indexes with the fewest rows first: a metadata pair, close calls, failed and running polls, a key. */
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
    // Conditions that read more than the row come last.
    preset: preset === undefined ? null : sql`polls.spec ->> 'panel_name' = ${preset}`,
    text: text === undefined ? null : sql`strpos(lower(polls.spec ->> 'question'), lower(${text})) > 0`,
  };
  const { close, failed, running, key } = conditions;
  const asked = Object.values(conditions).filter((condition) => condition !== null);
  if (pair) return { source: labelled(accountId, pair), rest: asked };
  const first = close ?? failed ?? running ?? key;
  // A tenant's or key's polls all belong to the account. Repeating that would make the planner prefer the larger index.
  const isOfAccount = first !== null && (first === running || first === key);
  const where = [...(isOfAccount ? [] : [sql`account_id = ${accountId}::uuid`]), ...(first ? [first] : [])];
  const source: Source = { from: sql`polls`, id: sql`id`, where, fits: allOf };
  return { source, rest: asked.filter((condition) => condition !== first) };
}

const labelled = (accountId: string, [key, value]: [string, string]): Source => ({
  from: sql`poll_labels`,
  id: sql`poll_id`,
  where: [sql`account_id = ${accountId}::uuid`, sql`label = label_of(${key}, ${value})`],
  // Not `exists`: the planner may answer that by hashing the whole table.
  fits: (conditions, month) =>
    sql`coalesce((select ${allOf(conditions)} from polls where id = poll_id and ${isIn(month, sql`id`)}), false)`,
});

function rangeOf({ createdAfter, createdBefore }: PollFilter): Sql[] {
  return [
    ...(createdAfter ? [sql`created_at >= ${createdAfter}`] : []),
    ...(createdBefore ? [sql`created_at < ${createdBefore}`] : []),
  ];
}
