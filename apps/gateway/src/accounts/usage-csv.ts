import type { UsageFigures, UsageReport } from '@eloquentpoll/contracts';

// The groups of GET /api/usage as a table, without the period before.

const FIGURES = [
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

export function usageCsv({ group_by, groups, total }: UsageReport): string {
  const lines: (string | number | null)[][] = [
    [group_by, 'label', ...FIGURES],
    ...groups.map((group) => [group.group, group.label ?? '', ...FIGURES.map((name) => group[name])]),
    ['total', '', ...FIGURES.map((name) => total[name])],
  ];
  return lines.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
}

/** A text that a spreadsheet would take for a formula is marked as a text. */
function cellOf(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
