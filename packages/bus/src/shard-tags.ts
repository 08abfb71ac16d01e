import calculateSlot from 'cluster-key-slot';

const SLOTS = 16_384;
/** Tags are generated until one is this close to the intended slot of its shard. */
const NEAR = 64;

/**
 * The hash tag of a queue shard. The first N shards are spread evenly over the slots for every N, so masters with equal
 * shares of the slots get equal shares of the shards. A shard keeps its tag when others are added.
 */
export function shardTag(prefix: string, shard: number): string {
  const middle = SLOTS * fractionOf(shard);
  for (let n = 0; ; n++) {
    const tag = `${prefix}:${shard}.${n}`;
    if (Math.abs(calculateSlot(tag) - middle) < NEAR) return tag;
  }
}

/** 1/2, 1/4, 3/4, 1/8, 5/8, ...: the bits of the number, reversed, as binary fraction. */
function fractionOf(shard: number): number {
  let fraction = 0;
  for (let [rest, bit] = [shard + 1, 0.5]; rest > 0; rest >>= 1, bit /= 2) if (rest & 1) fraction += bit;
  return fraction;
}
