import type { CampaignHistory } from '../history.ts';

export interface CampaignRule {
  readonly name: string;
  /** What contradicts it; empty where it holds. */
  readonly broken: (history: CampaignHistory) => string[];
}

export function countBy<T>(items: readonly T[], key: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(key(item), (counts.get(key(item)) ?? 0) + 1);
  return counts;
}

export const seatKey = ({ pollId, seat }: { pollId: string; seat: number }): string => `${pollId} seat ${seat}`;
