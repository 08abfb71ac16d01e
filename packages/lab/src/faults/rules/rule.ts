import { shareBound } from '@eloquentpoll/evidence';
import type { CampaignHistory } from '../history.ts';
import type { RecordedOperation } from '../operations.ts';

export interface CampaignRule {
  readonly name: string;
  /** What violates the rule; empty if it holds. */
  readonly broken: (history: CampaignHistory) => string[];
}

export function countBy<T>(items: readonly T[], key: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(key(item), (counts.get(key(item)) ?? 0) + 1);
  return counts;
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

export const label = ({ n, kind }: Pick<RecordedOperation, 'n' | 'kind'>): string => `operation ${n} (${kind})`;

export const seatKey = ({ pollId, seat }: { pollId: string; seat: number }): string => `${pollId} seat ${seat}`;

const LATE_SHARE = 0.01;

/**
 * What "p99 within" means for small numbers: more than 1 % took longer, with 95 % certainty. One late wait of ten may
 * be chance, two are not.
 */
export function tooManyLate(waitsMs: readonly number[], withinMs: number): string[] {
  const late = waitsMs.filter((ms) => ms > withinMs).length;
  const believable = 1 - shareBound(waitsMs.length - late, waitsMs.length);
  if (late === 0 || believable <= LATE_SHARE) return [];
  return [`${late} of ${waitsMs.length} were later, the slowest after ${Math.round(Math.max(...waitsMs))} ms`];
}
