/** Random draws that depend only on the seed (mulberry32). */
export interface Draws {
  below(bound: number): number;
  of<T>(list: readonly T[]): T;
  /** True with probability 1 / `many`. */
  oneIn(many: number): boolean;
  /** Chooses among pairs of value and weight. */
  weighed<T>(pairs: readonly (readonly [T, number])[]): T;
}

export function drawsOf(seed: number): Draws {
  let state = seed >>> 0;
  const below = (bound: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
  return {
    below,
    of: (list) => list[below(list.length)]!,
    oneIn: (many) => below(many) === 0,
    weighed(pairs) {
      let left = below(pairs.reduce((sum, [, weight]) => sum + weight, 0));
      for (const [value, weight] of pairs) {
        if (left < weight) return value;
        left -= weight;
      }
      return pairs[0]![0];
    },
  };
}
