// Reproducible randomness: the same seed gives the same draws on every machine. For shuffling, not for secrets.

/** Returns a function that draws an integer from 0 up to, but not including, its argument. */
export function seededRandom(seed: string): (bound: number) => number {
  let state = fnv1a(seed);
  return (bound) => {
    state = BigInt.asUintN(64, state + 0x9e37_79b9_7f4a_7c15n);
    return Number(splitMix(state) % BigInt(bound));
  };
}

/** A new array in random order. Every order is equally likely (Fisher-Yates). */
export function shuffled<T>(items: readonly T[], draw: (bound: number) => number): T[] {
  const order = [...items];
  for (let last = order.length - 1; last > 0; last--) {
    const other = draw(last + 1);
    [order[last], order[other]] = [order[other]!, order[last]!];
  }
  return order;
}

/** FNV-1a over UTF-16 code units: hashes a text to 64 bits. */
function fnv1a(text: string): bigint {
  let hash = 0xcbf2_9ce4_8422_2325n;
  for (let i = 0; i < text.length; i++) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(i))) * 0x100_0000_01b3n);
  }
  return hash;
}

/** The finalizer of SplitMix64: successive states give unrelated numbers. */
function splitMix(state: bigint): bigint {
  let z = BigInt.asUintN(64, (state ^ (state >> 30n)) * 0xbf58_476d_1ce4_e5b9n);
  z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d0_49bb_1331_11ebn);
  return z ^ (z >> 31n);
}
