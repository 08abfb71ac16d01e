import { randomBytes } from 'node:crypto';
import { deleteKeys } from '@eloquentpoll/services/redis-keys';
import { Redis } from 'ioredis';
import type { Test } from 'tap';
import { requireEnv } from './require-env.ts';

/** A prefix for all keys of one test in Redis; they are deleted when the test ends. */
export function testRedis(t: Test): { url: string; prefix: string } {
  const url = requireEnv('TEST_REDIS_URL');
  const prefix = `t${randomBytes(6).toString('hex')}`;
  t.teardown(async () => {
    const redis = new Redis(url, { maxRetriesPerRequest: 1 });
    try {
      await deleteKeys(redis, `*${prefix}*`);
    } finally {
      redis.disconnect();
    }
  });
  return { url, prefix };
}
