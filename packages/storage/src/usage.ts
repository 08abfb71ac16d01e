import { type RawBuilder, sql } from 'kysely';
import type { Queries } from './open-storage.ts';

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

/** Days in their order, other groups by cost. */
export async function readUsageGroups(
  { db }: Queries,
  accountId: string,
  { groupBy, filter = {}, maxGroups, ...range }: UsageGroupTerms,
): Promise<StoredUsageGroup[]> {
  const source = typeof groupBy === 'string' ? dayRows(accountId, range, filter) : labelRows(accountId, range, groupBy);
  const column = typeof groupBy === 'string' ? COLUMN_OF[groupBy] : sql`value`;
  const order = groupBy === 'day' ? sql`place` : sql`cost_u desc, polls desc, place`;
  const { rows } = await usageQuery({ source, column, maxGroups, order }).execute(db);
  return rows.map((row) => ({ group: row.shown, ...toFigures(row) }));
}

/** Of all polls of the filter. */
export async function readUsageTotal(
  { db }: Queries,
  accountId: string,
  range: UsageRange,
  filter: UsageFilter = {},
): Promise<StoredUsage> {
  const source = dayRows(accountId, range, filter);
  const { rows } = await usageQuery({ source, column: sql`''`, maxGroups: 1, order: sql`place` }).execute(db);
  const [row] = rows;
  return row ? toFigures(row) : NOTHING;
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

interface Row {
  /** Null for the groups that are summed up. */
  shown: string | null;
  polls: number;
  completed: number;
  failed: number;
  canceled: number;
  split_or_partial: number;
  cost_u: bigint;
  saved_u: bigint;
  ms_bucket: number | null;
  cost_bucket: number | null;
}

/** A median is the bucket in which the middle poll of the group is. */
const usageQuery = ({
  source,
  column,
  maxGroups,
  order,
}: {
  source: Sql;
  column: Sql;
  maxGroups: number;
  order: Sql;
}) =>
  sql<Row>`
    with rows as materialized (select *, ${column} as place from ${source}),
    ranked as (
      select place, sum(polls) as polls, sum(cost_u) as cost_u,
             row_number() over (order by sum(cost_u) desc, sum(polls) desc, place) as rank,
             count(*) over () as places
        from rows group by place
    ),
    named as materialized (
      select r.*, case when g.places > ${maxGroups} and g.rank >= ${maxGroups} then null else g.place end as shown
        from rows r join ranked g using (place)
    ),
    sums as (
      select shown, sum(polls)::float8 as polls, sum(completed)::float8 as completed, sum(failed)::float8 as failed,
             sum(canceled)::float8 as canceled, sum(split_or_partial)::float8 as split_or_partial,
             sum(cost_u)::bigint as cost_u, sum(saved_u)::bigint as saved_u
        from named group by shown
    ),
    ${mediansOf('ms')},
    ${mediansOf('cost')}
    select s.*, m.bucket as ms_bucket, c.bucket as cost_bucket
      from (select *, shown as place from sums) s
      left join median_ms m on m.shown is not distinct from s.shown
      left join median_cost c on c.shown is not distinct from s.shown
     order by s.shown is null, ${order}`;

function mediansOf(what: 'ms' | 'cost'): Sql {
  const counts = sql.ref(`${what}_counts`);
  return sql`
    ${sql.raw(`counted_${what}`)} as (
      select shown, array_lower(${counts}, 1) + nth - 1 as bucket, sum(n) as n
        from named cross join lateral unnest(${counts}) with ordinality as u (n, nth)
       where n > 0 group by 1, 2
    ),
    ${sql.raw(`median_${what}`)} as (
      select shown, min(bucket)::integer as bucket
        from (select shown, bucket, sum(n) over (partition by shown order by bucket) as to_here,
                     sum(n) over (partition by shown) as in_all
                from ${sql.raw(`counted_${what}`)}) c
       where to_here * 2 >= in_all group by shown
    )`;
}

const toFigures = (row: Row): StoredUsage => ({
  polls: row.polls,
  completed: row.completed,
  failed: row.failed,
  canceled: row.canceled,
  splitOrPartial: row.split_or_partial,
  costU: row.cost_u,
  savedU: row.saved_u,
  medianMs: middleOf(row.ms_bucket),
  medianCostU: middleOf(row.cost_bucket),
});

/** The middle of a bucket of `usage_bucket`: within 4.5 percent of everything in it. */
const middleOf = (bucket: number | null): number | null =>
  bucket === null ? null : bucket === 0 ? 0 : Math.round(2 ** ((bucket - 0.5) / 8));

const NOTHING: StoredUsage = {
  polls: 0,
  completed: 0,
  failed: 0,
  canceled: 0,
  splitOrPartial: 0,
  costU: 0n,
  savedU: 0n,
  medianMs: null,
  medianCostU: null,
};
