import type { AlarmsOfDay } from './alarms.ts';
import type { LivedDay } from './live-day.ts';
import { type BoundOfDay, requestsOf } from './verdict.ts';

/** Counts that can be added up over runs. */
export function countsOfDay(
  day: LivedDay,
  alarms: AlarmsOfDay | null,
  bounds: readonly BoundOfDay[],
): Record<string, number> {
  const { diary, audit, plan } = day;
  const judged = [...diary.ways.values()].reduce((sum, way) => sum + way.judged, 0);
  return {
    minutes: plan.minutes,
    requests: requestsOf(day),
    'answers judged': judged,
    'answers wrong': diary.wrongCount,
    'refused for a moment': diary.refusedCount,
    'votes compared': diary.votes,
    'votes not heard': diary.unheardCount,
    polls: audit.polls,
    batches: audit.batches,
    audits: audit.audits,
    webhooks: audit.webhooks.received,
    'webhooks missing': audit.webhooks.missing.length,
    'ledger violations': audit.violations.length,
    'alarms fired': alarms?.fired.length ?? 0,
    'bounds broken': bounds.filter(({ holds }) => !holds).length,
  };
}
