import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import type { Test } from 'tap';
import { requireEnv } from './require-env.ts';

/** A corner of Redis for one test: every key starts with `prefix` and is removed when the test ends. */
export function testRedis(t: Test): { url: string; prefix: string } {
  const url = requireEnv('TEST_REDIS_URL');
  const prefix = `t${randomBytes(6).toString('hex')}`;
  t.teardown(() => removeKeys(url, prefix));
  return { url, prefix };
}

async function removeKeys(url: string, prefix: string): Promise<void> {
  const redis = new Redis(url, { maxRetriesPerRequest: 1 });
  try {
    let cursor = '0';
    do {
      const [next, keys] = await redis.scan(cursor, 'MATCH', `*${prefix}*`, 'COUNT', 1000);
      cursor = next;
      if (keys.length > 0) await redis.unlink(...keys);
    } while (cursor !== '0');
  } finally {
    redis.disconnect();
  }
}
