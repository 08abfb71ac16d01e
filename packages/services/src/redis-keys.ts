import type { Redis } from 'ioredis';

/** Batches of keys that match the pattern; a key may appear twice. */
export async function* scanKeys(redis: Pick<Redis, 'scan'>, pattern = '*'): AsyncGenerator<string[]> {
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', pattern, 'COUNT', 1_000);
    cursor = next;
    if (keys.length > 0) yield keys;
  } while (cursor !== '0');
}

/** `servers`: where to search; for a cluster, its masters. */
export async function deleteKeys(
  redis: Pick<Redis, 'scan' | 'unlink'>,
  pattern: string,
  servers: readonly Pick<Redis, 'scan'>[] = [redis],
): Promise<void> {
  for (const server of servers)
    for await (const keys of scanKeys(server, pattern)) await Promise.all(keys.map((key) => redis.unlink(key)));
}
