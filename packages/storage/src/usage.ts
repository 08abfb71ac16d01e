import { type RawBuilder, sql } from 'kysely';
import type { Queries } from './open-storage.ts';
import type { UsageCounts } from './tables/usage.ts';
import { medianOf } from './usage-median.ts';

// Polls and charges of an account, from the rows that count_usage maintains. Days are UTC days, including the last one.

export interface UsageRange {
  /** For example `2026-11-20`. */
  from: string;
  to: string;
}

export interface UsageFilter {
  /** Null: polls without a key. */
  keyId?: string | null | undefined;
  preset?: string | undefined;
  surface?: string | undefined;
}

export type UsageGrouping = 'day' | 'key' | 'preset' | 'surface' | { metadata: string };

export interface UsageGroupTerms extends UsageRange {
  groupBy: UsageGrouping;
  filter?: UsageFilter;
  /** Groups beyond this number, those with the lowest cost, are combined into the last group. */
  maxGroups: number;
}

export interface StoredUsage {
  polls: number;
  completed: number;
  failed: number;
  canceled: number;
  splitOrPartial: number;
  costU: bigint;
  savedU: bigint;
  /** For completed polls; null without any. */
  medianMs: number | null;
  medianCostU: number | null;
}

export interface StoredUsageGroup extends StoredUsage {
  /** A day, key id, preset, surface or metadata value; null for the combined groups beyond `maxGroups`. */
  group: string | null;
}

export const WITHOUT_KEY = '00000000-0000-0000-0000-000000000000';

export interface GroupedUsage {
  /** Days in order, other groups by cost. */
  groups: StoredUsageGroup[];
  /** Of all groups. */
  total: StoredUsage;
}

export async function readUsageGroups(
  { db }: Queries,
  accountId: string,
  terms: UsageGroupTerms,
): Promise<GroupedUsage> {
  const { rows } = await groupsQuery(accountId, terms).execute(db);
  const [total, ...groups] = rows.map((row) => ({ group: row.shown, ...toUsage(row) }));
  return { groups, total: total! };
}

/** The total is the first row. A test checks the plan: it reads the account's rows of the range and no others. */
export function groupsQuery(accountId: string, { groupBy, filter = {}, maxGroups, ...range }: UsageGroupTerms) {
  const source = typeof groupBy === 'string' ? dayRows(accountId, range, filter) : labelRows(accountId, range, groupBy);
  const column = typeof groupBy === 'string' ? COLUMN_OF[groupBy] : sql`value`;
  const order = groupBy === 'day' ? sql`shown` : sql`cost_u desc, polls desc, shown`;
  return usageQuery({ source, column, maxGroups, order });
}

/** Of all polls that match the filter. */
export async function readUsageTotal(
  { db }: Queries,
  accountId: string,
  range: UsageRange,
  filter: UsageFilter = {},
): Promise<StoredUsage> {
  const { rows } = await sql<Row>`
    select null as shown, ${sumsOf()} from ${dayRows(accountId, range, filter)}`.execute(db);
  return toUsage(rows[0]!);
}

type Sql = RawBuilder<unknown>;

const COLUMN_OF = { day: sql`day::text`, key: sql`key_id::text`, preset: sql`preset`, surface: sql`surface` } as const;

function dayRows(accountId: string, range: UsageRange, { keyId, preset, surface }: UsageFilter): Sql {
  const conditions = [
    ...(keyId === undefined ? [] : [sql`key_id = ${keyId ?? WITHOUT_KEY}::uuid`]),
    ...(preset === undefined ? [] : [sql`preset = ${preset}`]),
    ...(surface === undefined ? [] : [sql`surface = ${surface}`]),
  ];
  return sql`usage_days where ${sql.join([...inRange(accountId, range), ...conditions], sql` and `)}`;
}

/** For a month that is mostly within the range, reads the month's sums and subtracts the days outside the range. */
function labelRows(accountId: string, { from, to }: UsageRange, { metadata }: { metadata: string }): Sql {
  const firstOf = (day: string) => sql`date_trunc('month', ${day}::date::timestamp)::date`;
  const ofName = sql`account_id = ${accountId}::uuid and name = ${metadata}`;
  const counts = (sign: string) => sql.raw(COUNTS.map((name) => `${sign}${name} as ${name}`).join(', '));
  return sql`(
    with known as (
      select day, date_trunc('month', day::timestamp)::date as month, summed,
             day between ${from}::date and ${to}::date as is_inside
        from usage_names
       where ${ofName} and day >= ${firstOf(from)} and day < ${firstOf(to)} + interval '1 month'
    ), whole as (
      select month from known where summed
       group by month having count(*) filter (where is_inside) > 1 + count(*) filter (where not is_inside)
    ), days as (
      select *, summed and month in (select month from whole) as is_whole from known
    )
    select value, ${counts('')} from usage_label_months
     where ${ofName} and month = any(array(select month from whole))
    union all
    select value, ${counts('')} from usage_labels
     where ${ofName} and day = any(array(select day from days where is_inside and not is_whole))
    union all
    select value, ${counts('-')} from usage_labels
     where ${ofName} and day = any(array(select day from days where not is_inside and is_whole))
  ) counted`;
}

const inRange = (accountId: string, { from, to }: UsageRange): Sql[] => [
  sql`account_id = ${accountId}::uuid`,
  sql`day between ${from}::date and ${to}::date`,
];

interface Row extends Omit<UsageCounts, 'ms_counts' | 'cost_counts'> {
  /** Null for the total and for the combined groups. */
  shown: string | null;
  ms_counts: Buffer;
  cost_counts: Buffer;
}

const COUNTERS = ['polls', 'completed', 'failed', 'canceled', 'split_or_partial'];
const AMOUNTS = ['cost_u', 'saved_u'];
const HISTOGRAMS = ['ms_counts', 'cost_counts'];
const COUNTS = [...COUNTERS, ...AMOUNTS, ...HISTOGRAMS];

/** The total, the groups, and the combined groups. */
const usageQuery = ({ source, column, maxGroups, order }: Grouping) => sql<Row>`
  with places as materialized (
    select ${column} as place, ${rawSums(COUNTS)} from ${source} group by 1 having sum(polls) > 0
  ),
  ranked as (
    select *, count(*) over () <= ${maxGroups}
              or row_number() over (order by cost_u desc, polls desc, place) < ${maxGroups} as is_shown
      from places
  )
  select 1 as part, null as shown, ${sumsOf()} from places
  union all
  select 2, place, ${figuresOf((name) => name)} from ranked where is_shown
  union all
  select 3, null, ${sumsOf()} from ranked where not is_shown having count(*) > 0
   order by part, ${order}`;

interface Grouping {
  source: Sql;
  column: Sql;
  maxGroups: number;
  order: Sql;
}

const rawSums = (names: readonly string[]): Sql => sql.raw(names.map((name) => `sum(${name}) as ${name}`).join(', '));

const figuresOf = (figure: (name: string) => string): Sql =>
  sql.raw(
    [
      ...COUNTERS.map((name) => `${figure(name)}::float8 as ${name}`),
      ...AMOUNTS.map((name) => `${figure(name)}::bigint as ${name}`),
      ...HISTOGRAMS.map((name) => `numeric_send(${figure(name)}) as ${name}`),
    ].join(', '),
  );

const sumsOf = (): Sql => figuresOf((name) => `coalesce(sum(${name}), 0)`);

const toUsage = (row: Row): StoredUsage => ({
  polls: row.polls,
  completed: row.completed,
  failed: row.failed,
  canceled: row.canceled,
  splitOrPartial: row.split_or_partial,
  costU: row.cost_u,
  savedU: row.saved_u,
  medianMs: medianOf(row.ms_counts, row.completed),
  medianCostU: medianOf(row.cost_counts, row.completed),
});
