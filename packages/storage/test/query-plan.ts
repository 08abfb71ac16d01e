import { type RawBuilder, sql } from 'kysely';
import type { Storage } from '../src/index.ts';

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
