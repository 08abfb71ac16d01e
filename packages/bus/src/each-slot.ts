import calculateSlot from 'cluster-key-slot';
import { isCluster } from './connections.ts';
import type { RedisClient } from './redis-client.ts';

/**
 * The results of `read` for many keys, in their order. In a cluster a command may touch only one slot, so it is sent
 * once per slot; on a single Redis once in total. Results from a slot that does not answer are undefined. Rejects if
 * none answers.
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
