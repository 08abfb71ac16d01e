import {
  LIMITS,
  NO_KEY,
  OTHER_GROUPS,
  type UsageFigures,
  type UsageQuery,
  type UsageReport,
} from '@eloquentpoll/contracts';
import {
  listKeys,
  type Queries,
  readUsageGroups,
  readUsageTotal,
  type StoredUsage,
  type UsageFilter,
  type UsageGrouping,
  type UsageRange,
  WITHOUT_KEY,
} from '@eloquentpoll/storage';
import { invalid } from '../http/api-error.ts';

// GET /api/usage, for the API and the pages.

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const FIRST_DAY = '2000-01-01';

export interface UsageTerms extends UsageRange {
  groupBy: UsageGrouping;
  filter: UsageFilter;
}

/** The terms of a valid query string; without `to`, the period ends on the day of `now`. */
export function readUsageTerms(query: UsageQuery, now = Date.now()): UsageTerms {
  const { group_by = 'day', key_id, preset, surface } = query;
  for (const name of ['from', 'to'] as const) {
    if ((query[name] ?? FIRST_DAY) < FIRST_DAY)
      throw invalid([{ pointer: `#/${name}`, detail: `${name} must not be before ${FIRST_DAY}` }]);
  }
  const to = query.to ?? dayOf(now);
  const from = query.from ?? dayBefore(to, DEFAULT_DAYS - 1);
  const days = daysIn({ from, to });
  if (days < 1) throw invalid([{ pointer: '#/from', detail: 'from must not be after to' }]);
  if (days > LIMITS.usage.days) {
    throw invalid([{ pointer: '#/from', detail: `from must be at most ${LIMITS.usage.days - 1} days before to` }]);
  }
  const groupBy = groupingOf(group_by);
  const filter: UsageFilter = { keyId: key_id, preset, surface };
  if (typeof groupBy === 'object' && Object.values(filter).some((value) => value !== undefined)) {
    const detail = 'labels are counted for all polls: key_id, preset and surface do not go with metadata';
    throw invalid([{ pointer: '#/group_by', detail }]);
  }
  return { from, to, groupBy, filter };
}

function groupingOf(text: string): UsageGrouping {
  const name = /^metadata\.(.+)$/s.exec(text)?.[1];
  return name === undefined ? (text as UsageGrouping) : { metadata: name };
}

export async function usageReport(storage: Queries, accountId: string, terms: UsageTerms): Promise<UsageReport> {
  const { from, to, groupBy, filter } = terms;
  const days = daysIn(terms);
  const before = { from: dayBefore(from, days), to: dayBefore(from, 1) };
  const [{ groups, total: ofGroups }, ofAll, previous, labels] = await Promise.all([
    readUsageGroups(storage, accountId, { ...terms, maxGroups: LIMITS.usage.groups }),
    // Polls without the label belong to no group.
    typeof groupBy === 'object' ? readUsageTotal(storage, accountId, { from, to }) : null,
    readUsageTotal(storage, accountId, before, filter),
    groupBy === 'key' ? labelsOfKeys(storage, accountId) : null,
  ]);
  return {
    from,
    to,
    group_by: typeof groupBy === 'string' ? groupBy : `metadata.${groupBy.metadata}`,
    groups: groups.map(({ group, ...figures }) => ({
      group: group === null ? OTHER_GROUPS : groupBy === 'key' && group === WITHOUT_KEY ? NO_KEY : group,
      ...(labels?.has(group ?? '') && { label: labels.get(group ?? '')! }),
      ...toWire(figures),
    })),
    total: toWire(ofAll ?? ofGroups),
    previous: { ...before, ...toWire(previous) },
  };
}

const labelsOfKeys = async (storage: Queries, accountId: string): Promise<Map<string, string>> =>
  new Map((await listKeys(storage, accountId)).map(({ id, label }) => [id, label]));

const toWire = (figures: StoredUsage): UsageFigures => ({
  polls: figures.polls,
  completed: figures.completed,
  failed: figures.failed,
  canceled: figures.canceled,
  split_or_partial: figures.splitOrPartial,
  cost_usd: usd(figures.costU),
  saved_usd: usd(figures.savedU),
  median_ms: figures.medianMs,
  median_cost_usd: figures.medianCostU === null ? null : figures.medianCostU / 1_000_000,
});

const usd = (microUsd: bigint): number => Number(microUsd) / 1_000_000;

const daysIn = ({ from, to }: UsageRange): number => (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
const dayBefore = (day: string, days: number): string => dayOf(Date.parse(day) - days * DAY_MS);
