import type { UsageFigures, UsageReport } from '@eloquentpoll/contracts';
import { csvLine } from '../http/csv.ts';

/** The columns of every usage table, in order. */
export const USAGE_FIGURES = [
  'polls',
  'completed',
  'failed',
  'canceled',
  'split_or_partial',
  'cost_usd',
  'saved_usd',
  'median_ms',
  'median_cost_usd',
] as const satisfies (keyof UsageFigures)[];

export const usageCells = (figures: UsageFigures): (number | null)[] => USAGE_FIGURES.map((name) => figures[name]);

/** The groups of GET /api/usage as a table, without the previous period. */
export const usageCsv = ({ group_by, groups, total }: UsageReport): string =>
  [
    csvLine([group_by, 'label', ...USAGE_FIGURES]),
    ...groups.map((group) => csvLine([group.group, group.label ?? '', ...usageCells(group)])),
    csvLine(['total', '', ...usageCells(total)]),
  ].join('');
