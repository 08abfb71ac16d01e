import { seededRandom } from '@eloquentpoll/voting';

// Reproducible randomness: every experiment prints its seed, and the same seed makes the same choices.

export interface Chance {
  /** In [0, 1). */
  share(): number;
  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number;
  between(low: number, high: number): number;
  happens(probability: number): boolean;
  pick<T>(items: readonly [T, ...T[]] | readonly T[]): T;
  /** Log-normal with this median. */
  latency(medianMs: number, sigma: number): number;
}

const STEPS = 2 ** 32;

export function chance(seed: string): Chance {
  const draw = seededRandom(seed);
  const share = () => draw(STEPS) / STEPS;
  const whole = (low: number, high: number) => low + draw(high - low + 1);
  return {
    share,
    whole,
    between: (low, high) => low + share() * (high - low),
    happens: (probability) => share() < probability,
    pick: (items) => items[whole(0, items.length - 1)]!,
    latency(medianMs, sigma) {
      const normal = Math.sqrt(-2 * Math.log(1 - share())) * Math.cos(2 * Math.PI * share());
      return Math.round(medianMs * Math.exp(sigma * normal));
    },
  };
}

/** Draws one of the items, each as often as its weight says. */
export function weighted<T>(items: readonly T[], weightOf: (item: T) => number, { share }: Chance): T {
  let left = share() * items.reduce((sum, item) => sum + weightOf(item), 0);
  for (const item of items) {
    left -= weightOf(item);
    if (left < 0) return item;
  }
  return items.at(-1)!;
}

/** Draws one of the names. */
export const weightedName = <T extends string>(weights: Partial<Record<T, number>>, draw: Chance): T =>
  weighted(Object.entries(weights) as [T, number][], ([, weight]) => weight, draw)[0];
