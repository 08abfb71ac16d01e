import type { Redis } from 'ioredis';

/** Batches of the keys that match; a key may come twice. */
export async function* scanKeys(redis: Pick<Redis, 'scan'>, pattern = '*'): AsyncGenerator<string[]> {
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', pattern, 'COUNT', 1_000);
    cursor = next;
    if (keys.length > 0) yield keys;
  } while (cursor !== '0');
}

/** `servers`: where to look for them; the masters of a cluster. */
export async function deleteKeys(
  redis: Pick<Redis, 'scan' | 'unlink'>,
  pattern: string,
  servers: readonly Pick<Redis, 'scan'>[] = [redis],
): Promise<void> {
  for (const server of servers)
    for await (const keys of scanKeys(server, pattern)) await Promise.all(keys.map((key) => redis.unlink(key)));
}
