import type { UsageFigures } from '@eloquentpoll/contracts';
import { csvLine } from '../../http/csv.ts';
import type { UsageView } from './read-usage-view.ts';

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

/** What the page shows, as lines: the total, the period before, each day with its split, each group. */
export function usageViewCsv({ from, to, by, total, previous, groups, days }: UsageView): string {
  const cells = (figures: UsageFigures) => FIGURES.map((name) => figures[name]);
  const split = groups.slice(0, days[0]?.parts.length ?? 0);
  return [
    csvLine(['kind', 'from', 'to', 'group', 'label', ...FIGURES]),
    csvLine(['total', from, to, '', '', ...cells(total)]),
    csvLine(['previous', previous.from, previous.to, '', '', ...cells(previous)]),
    ...groups.map((group) => csvLine([by, from, to, group.group, group.label ?? '', ...cells(group)])),
    ...days.flatMap((day) => [
      csvLine(['day', day.day, day.day, '', '', ...cells(day)]),
      ...split.flatMap(({ group, label = '' }, i) =>
        day.parts[i]! > 0
          ? csvLine([
              `day_${by}`,
              day.day,
              day.day,
              group,
              label,
              ...FIGURES.map((name) => (name === 'cost_usd' ? day.parts[i]! : '')),
            ])
          : [],
      ),
    ]),
  ].join('');
}
