import { type RawBuilder, sql } from 'kysely';
import type { Queries, Storage } from '../src/index.ts';

// How much a query reads is asked of its plan, and not of a clock.

export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/** What was executed of the query's plan: what was planned for other months was not. */
export const executedNodes = async (storage: Pick<Storage, 'db'>, query: RawBuilder<unknown>): Promise<PlanNode[]> =>
  (await plannedNodes(storage, query)).filter((node) => node['Actual Loops'] > 0);

export async function plannedNodes({ db }: Pick<Storage, 'db'>, query: RawBuilder<unknown>): Promise<PlanNode[]> {
  const { rows } = await sql<{
    'QUERY PLAN': [{ Plan: PlanNode }];
  }>`explain (analyze, timing off, format json) ${query}`.execute(db);
  return withAllBelow(rows[0]!['QUERY PLAN'][0].Plan);
}

const withAllBelow = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(withAllBelow)];

export const rowsRead = (node: PlanNode): number =>
  node['Actual Loops'] * (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0));

/** How many rows `work` reads of the tables whose names match, counted by Postgres for this connection. */
export async function rowsReadBy({ db }: Queries, tables: string, work: () => Promise<unknown>): Promise<number> {
  // Rows that parallel workers read are not counted in the transaction.
  await sql`set local max_parallel_workers_per_gather = 0`.execute(db);
  const soFar = async () => {
    const { rows } = await sql<{ rows: number }>`
      select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::float8 as rows
        from pg_stat_xact_user_tables where relname ~ ${`^(${tables})(_first|_[0-9]+)*$`}`.execute(db);
    return rows[0]!.rows;
  };
  // What earlier transactions of the connection read is counted too, until they have reported it.
  const before = await soFar();
  await work();
  return (await soFar()) - before;
}
