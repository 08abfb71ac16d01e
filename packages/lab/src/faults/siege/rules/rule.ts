import type { SiegeHistory } from '../history.ts';

export interface SiegeRule {
  readonly name: string;
  readonly broken: (history: SiegeHistory) => string[];
}

export function countBy<T>(items: readonly T[], key: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(key(item), (counts.get(key(item)) ?? 0) + 1);
  return counts;
}
