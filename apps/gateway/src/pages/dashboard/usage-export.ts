import { USAGE_FIGURES, usageCells } from '../../accounts/usage-csv.ts';
import { csvLine } from '../../http/csv.ts';
import type { UsageView } from './read-usage-view.ts';

/** The content of the page as CSV: the total, the period before, each day with its groups, each group. */
export function usageViewCsv({ from, to, by, total, previous, groups, days }: UsageView): string {
  const split = groups.slice(0, days[0]?.parts.length ?? 0);
  return [
    csvLine(['kind', 'from', 'to', 'group', 'label', ...USAGE_FIGURES]),
    csvLine(['total', from, to, '', '', ...usageCells(total)]),
    csvLine(['previous', previous.from, previous.to, '', '', ...usageCells(previous)]),
    ...groups.map((group) => csvLine([by, from, to, group.group, group.label ?? '', ...usageCells(group)])),
    ...days.flatMap((day) => [
      csvLine(['day', day.day, day.day, '', '', ...usageCells(day)]),
      ...split.flatMap(({ group, label = '' }, i) =>
        day.parts[i]! > 0
          ? csvLine([
              `day_${by}`,
              day.day,
              day.day,
              group,
              label,
              ...USAGE_FIGURES.map((name) => (name === 'cost_usd' ? day.parts[i]! : '')),
            ])
          : [],
      ),
    ]),
  ].join('');
}
