import type { CampaignHistory } from '../history.ts';
import { type JudgedWait, judgedWait, resumesOf } from '../resumes.ts';
import { type CampaignRule, tooManyLate } from './rule.ts';

type Seen = Pick<CampaignHistory, 'journal' | 'faults'>;

/** Every wait of a poll for another worker. */
export const judgedWaits = (history: Seen): JudgedWait[] =>
  resumesOf(history).map((resume) => judgedWait(resume, history.faults));

/** How long slots of struck masters were away, for each such fault. */
export const awayMsOf = ({ faults }: Pick<CampaignHistory, 'faults'>): number[] =>
  faults.flatMap(({ awayMs }) => (awayMs === undefined ? [] : [awayMs]));

/** Additional rules for a cluster whose masters fail over. */
export const clusterRules: readonly CampaignRule[] = [
  {
    name: 'polls of a killed worker are claimed again, p99 within 15 s, and within 30 s where a master was away meanwhile',
    broken: (history) =>
      [...Map.groupBy(judgedWaits(history), ({ cause }) => cause)].flatMap(([cause, waits]) => {
        const late = tooManyLate(
          waits.map(({ ms }) => ms),
          waits[0]!.withinMs,
        );
        return late.map((text) => `${cause}: ${text}`);
      }),
  },
];
