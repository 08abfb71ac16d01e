import type { AlarmsOfDay } from './alarms.ts';
import type { LivedDay } from './live-day.ts';
import { type BoundOfDay, requestsOf } from './verdict.ts';

/** Counts that can be added up over runs. */
export function countsOfDay(
  day: Pick<LivedDay, 'diary' | 'end' | 'plan'>,
  alarms: AlarmsOfDay | null,
  bounds: readonly BoundOfDay[],
): Record<string, number> {
  const { diary, end, plan } = day;
  const judged = [...diary.ways.values()].reduce((sum, way) => sum + way.judged, 0);
  return {
    minutes: plan.minutes,
    requests: requestsOf(day),
    'answers judged': judged,
    'answers wrong': diary.wrongCount,
    'refused for a moment': diary.refusedCount,
    'votes compared': diary.votes,
    'votes not heard': diary.unheardCount,
    polls: end.polls,
    batches: end.batches,
    audits: end.audits,
    webhooks: end.webhooks.received,
    'webhooks missing': end.webhooks.missing.length,
    'ledger violations': end.violations.length,
    'alarms fired': alarms?.fired.length ?? 0,
    'bounds broken': bounds.filter(({ holds }) => !holds).length,
  };
}
