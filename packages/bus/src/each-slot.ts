import calculateSlot from 'cluster-key-slot';
import { isCluster } from './connections.ts';
import type { RedisClient } from './redis-client.ts';

/**
 * What `read` says of many keys, in their order. A command touches one slot of a cluster, so it is sent once for each;
 * on a single Redis once for all. What belongs to a slot that does not answer is undefined; it rejects when none does.
 */
export async function eachSlot(
  redis: RedisClient,
  keys: readonly string[],
  read: (keys: readonly string[], places: readonly number[]) => Promise<unknown>,
): Promise<unknown[]> {
  if (keys.length === 0) return [];
  const all = [...keys.keys()];
  if (!isCluster(redis)) return listOf(await read(keys, all));
  const replies: unknown[] = Array.from({ length: keys.length });
  const slots = Map.groupBy(all, (place) => calculateSlot(keys[place]!));
  const readSlot = async (places: readonly number[]): Promise<void> => {
    const found = listOf(
      await read(
        places.map((place) => keys[place]!),
        places,
      ),
    );
    for (const [i, place] of places.entries()) replies[place] = found[i];
  };
  const settled = await Promise.allSettled([...slots.values()].map(readSlot));
  const [first] = settled;
  if (first?.status === 'rejected' && settled.every(({ status }) => status === 'rejected')) throw first.reason;
  return replies;
}

const listOf = (reply: unknown): unknown[] => (Array.isArray(reply) ? reply : []);
