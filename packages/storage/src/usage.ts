import { type RawBuilder, sql } from 'kysely';
import type { Queries } from './open-storage.ts';
import type { UsageCounts } from './tables/usage.ts';

// What an account asked and was charged, from the rows that count_usage keeps. Days are UTC days, the last one included.

export interface UsageRange {
  /** As `2026-11-20`. */
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
  /** Groups beyond it, those with the lowest cost, are summed up as the last one. */
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
  /** Of completed polls; null without one. */
  medianMs: number | null;
  medianCostU: number | null;
}

export interface StoredUsageGroup extends StoredUsage {
  /** A day, a key's id, a preset, a surface or a value of metadata; null for what is beyond `maxGroups`. */
  group: string | null;
}

export const WITHOUT_KEY = '00000000-0000-0000-0000-000000000000';

export interface GroupedUsage {
  /** Days in their order, other groups by cost. */
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

/** The total comes first. Its plan is tested: it reads the account's rows of the range and no others. */
export function groupsQuery(accountId: string, { groupBy, filter = {}, maxGroups, ...range }: UsageGroupTerms) {
  const source = typeof groupBy === 'string' ? dayRows(accountId, range, filter) : labelRows(accountId, range, groupBy);
  const column = typeof groupBy === 'string' ? COLUMN_OF[groupBy] : sql`value`;
  const order = groupBy === 'day' ? sql`shown` : sql`cost_u desc, polls desc, shown`;
  return usageQuery({ source, column, maxGroups, order });
}

/** Of all polls of the filter. */
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

const labelRows = (accountId: string, range: UsageRange, { metadata }: { metadata: string }): Sql =>
  sql`usage_labels where ${sql.join([...inRange(accountId, range), sql`name = ${metadata}`], sql` and `)}`;

const inRange = (accountId: string, { from, to }: UsageRange): Sql[] => [
  sql`account_id = ${accountId}::uuid`,
  sql`day between ${from}::date and ${to}::date`,
];

interface Row extends UsageCounts {
  /** Null for the total, and for the groups that are summed up. */
  shown: string | null;
  ms_digits: number;
  cost_digits: number;
}

const COUNTERS = ['polls', 'completed', 'failed', 'canceled', 'split_or_partial'];
const AMOUNTS = ['cost_u', 'saved_u'];
const HISTOGRAMS = ['ms_counts', 'cost_counts'];

/** Most of a histogram's number is zeros at its end, which are left out. */
const usageQuery = ({ source, column, maxGroups, order }: Grouping) => sql<Row>`
  with places as (
    select ${column} as place, ${rawSums([...COUNTERS, ...AMOUNTS, ...HISTOGRAMS])} from ${source} group by 1
  ),
  named as (
    select *, case when count(*) over () <= ${maxGroups}
                     or row_number() over (order by cost_u desc, polls desc, place) < ${maxGroups} then place end as shown
      from places
  )
  select shown, ${sumsOf()} from named
   group by grouping sets ((shown), ())
   order by grouping(shown) desc, shown is null, ${order}`;

interface Grouping {
  source: Sql;
  column: Sql;
  maxGroups: number;
  order: Sql;
}

const rawSums = (names: readonly string[]): Sql => sql.raw(names.map((name) => `sum(${name}) as ${name}`).join(', '));

const sumsOf = (): Sql =>
  sql.raw(
    [
      ...COUNTERS.map((name) => `coalesce(sum(${name}), 0)::float8 as ${name}`),
      ...AMOUNTS.map((name) => `coalesce(sum(${name}), 0)::bigint as ${name}`),
      ...['ms', 'cost'].map(
        (what) =>
          `rtrim(coalesce(sum(${what}_counts), 0)::text, '0') as ${what}_counts, ` +
          `length(coalesce(sum(${what}_counts), 0)::text) as ${what}_digits`,
      ),
    ].join(', '),
  );

const toUsage = (row: Row): StoredUsage => ({
  polls: row.polls,
  completed: row.completed,
  failed: row.failed,
  canceled: row.canceled,
  splitOrPartial: row.split_or_partial,
  costU: row.cost_u,
  savedU: row.saved_u,
  medianMs: medianOf(row.ms_counts.padEnd(row.ms_digits, '0'), row.completed),
  medianCostU: medianOf(row.cost_counts.padEnd(row.cost_digits, '0'), row.completed),
});

const DIGITS = 9;

/** Of a histogram with `count` entries; see counted_once.sql. */
function medianOf(histogram: string, count: number): number | null {
  let upTo = 0;
  for (let bucket = 0, end = histogram.length; end > 0; bucket++, end -= DIGITS) {
    upTo += Number(histogram.slice(Math.max(0, end - DIGITS), end));
    if (upTo > 0 && upTo * 2 >= count) return middleOf(bucket);
  }
  return null;
}

/** The middle of a bucket of `usage_bucket`: within 4.5 percent of everything in it. */
const middleOf = (bucket: number): number => (bucket === 0 ? 0 : Math.round(2 ** ((bucket - 0.5) / 8)));
