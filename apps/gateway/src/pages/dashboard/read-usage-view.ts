import { NO_KEY, type UsageFigures, type UsageGroup } from '@eloquentpoll/contracts';
import { type UsageTerms, usageReport } from '../../accounts/usage.ts';
import type { PagesContext } from '../context.ts';
import type { UsageAsked } from './usage-filter.ts';

const DAY_MS = 86_400_000;

/** A day's bar shows at most this many groups; the rest of the day is one more part. */
export const MAX_PARTS = 5;

export interface UsageDay extends UsageFigures {
  day: string;
  /** Cost of each of the first groups on that day, in their order. */
  parts: readonly number[];
}

/** Everything that the page shows; its export has the same data. */
export interface UsageView {
  from: string;
  to: string;
  by: UsageAsked['by'];
  total: UsageFigures;
  previous: UsageFigures & { from: string; to: string };
  /** Largest first. */
  groups: readonly UsageGroup[];
  /** Every day of the range. */
  days: readonly UsageDay[];
}

export async function readUsageView(
  { storage }: PagesContext,
  accountId: string,
  asked: UsageAsked,
  now = Date.now(),
): Promise<UsageView> {
  const to = dayOf(now);
  const from = dayOf(now - (asked.days - 1) * DAY_MS);
  const filter = {
    ...(asked.key !== undefined && { keyId: asked.key === NO_KEY ? null : asked.key }),
    preset: asked.preset,
    surface: asked.surface,
  };
  const read = (terms: Pick<UsageTerms, 'groupBy' | 'filter'>) =>
    usageReport(storage, accountId, { from, to, ...terms });
  const [daily, grouped] = await Promise.all([read({ groupBy: 'day', filter }), read({ groupBy: asked.by, filter })]);
  const largest = grouped.groups.filter(({ cost_usd }) => cost_usd > 0).slice(0, MAX_PARTS);
  const parts = await Promise.all(
    largest.map(async ({ group }) => {
      const { groups } = await read({ groupBy: 'day', filter: { ...filter, ...ofGroup(asked.by, group) } });
      return new Map(groups.map(({ group: day, cost_usd }) => [day, cost_usd]));
    }),
  );
  const known = new Map(daily.groups.map((day) => [day.group, day]));
  return {
    from,
    to,
    by: asked.by,
    total: daily.total,
    previous: daily.previous,
    groups: grouped.groups,
    days: Array.from({ length: asked.days }, (_, i) => dayOf(now - (asked.days - 1 - i) * DAY_MS)).map((day) => ({
      day,
      ...(known.get(day) ?? NOTHING),
      parts: parts.map((part) => part.get(day) ?? 0),
    })),
  };
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

function ofGroup(by: UsageAsked['by'], group: string): UsageTerms['filter'] {
  if (by === 'key') return { keyId: group === NO_KEY ? null : group };
  return by === 'preset' ? { preset: group } : { surface: group };
}

const NOTHING: UsageFigures = {
  polls: 0,
  completed: 0,
  failed: 0,
  canceled: 0,
  split_or_partial: 0,
  cost_usd: 0,
  saved_usd: 0,
  median_ms: null,
  median_cost_usd: null,
};
