import type { Metadata, PanelName, PollStatus } from '@eloquentpoll/contracts';
import { type RawBuilder, sql } from 'kysely';

// One filter chooses the index that is read in the order of the list; the others are applied to what it finds.

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

export interface Position {
  pollId: string;
  createdAt: string;
}

export interface ScannedRow {
  id: string;
  createdAt: Date;
  /** The same as a text: a Date has no microseconds. */
  at: string;
  fits: boolean;
  /** From 1, in the order of the page. */
  place: number;
}

/** What the ids of its polls lie between. */
export interface Month {
  since: string;
  until: string;
}

/** From the position on, where that is in the month. */
export type Scan = (month: Month, maxRows: number, position?: Position) => RawBuilder<ScannedRow>;

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
