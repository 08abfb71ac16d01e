import calculateSlot from 'cluster-key-slot';

const SLOTS = 16_384;
/** Tags are made until one is this near to where its shard should lie. */
const NEAR = 64;

/**
 * The hash tag of a queue shard. The first N shards lie evenly over the slots for every N, so that masters with equal shares
 * of the slots have equal shares of the shards; and a shard keeps its tag when others are added.
 */
export function shardTag(prefix: string, shard: number): string {
  const middle = SLOTS * fractionOf(shard);
  for (let n = 0; ; n++) {
    const tag = `${prefix}:${shard}.${n}`;
    if (Math.abs(calculateSlot(tag) - middle) < NEAR) return tag;
  }
}

/** 1/2, 1/4, 3/4, 1/8, 5/8, ...: the bits of the number behind the point, in reverse. */
function fractionOf(shard: number): number {
  let fraction = 0;
  for (let [rest, bit] = [shard + 1, 0.5]; rest > 0; rest >>= 1, bit /= 2) if (rest & 1) fraction += bit;
  return fraction;
}
