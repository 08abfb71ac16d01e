import { type Cause, waitsByCause } from '../resumes.ts';
import { type CampaignRule, tooManyLate } from './rule.ts';

/** A wait with another cause besides is not judged. */
const RESUME_WITHIN_MS = { worker: 15_000, master: 30_000 } as const satisfies Partial<Record<Cause, number>>;
const JUDGED = Object.entries(RESUME_WITHIN_MS) as [keyof typeof RESUME_WITHIN_MS, number][];

/** What holds besides on a cluster whose masters fail over. */
export const clusterRules: readonly CampaignRule[] = [
  {
    name: 'polls of a killed worker are claimed again, p99 within 15 s, and within 30 s where a master was away meanwhile',
    broken(history) {
      const waits = waitsByCause(history);
      return JUDGED.flatMap(([cause, withinMs]) => {
        return tooManyLate(waits[cause], withinMs).map((text) => `${cause}: ${text}`);
      });
    },
  },
];

/** Waits for another worker that are judged, and those of them that were too long. */
export function judgedWaits(history: Parameters<typeof waitsByCause>[0]): { judged: number; late: number } {
  const waits = waitsByCause(history);
  const late = JUDGED.map(([cause, withinMs]) => waits[cause].filter((ms) => ms > withinMs).length);
  return {
    judged: JUDGED.reduce((sum, [cause]) => sum + waits[cause].length, 0),
    late: late.reduce((sum, n) => sum + n, 0),
  };
}
