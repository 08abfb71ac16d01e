import type { Redis } from 'ioredis';

/**
 * A Redis that evicts keys under memory pressure drops jobs without an error, so the service does not start on
 * one. Where CONFIG is forbidden (managed Redis), INFO says the same.
 */
export async function refuseEviction(redis: Redis): Promise<void> {
  const policy = /^maxmemory_policy:(\S+)/m.exec(await redis.info('memory'))?.[1];
  if (policy !== 'noeviction') {
    throw new Error(
      `REDIS_URL: maxmemory-policy is ${policy ?? 'unknown'}, and a queue loses jobs on any other than noeviction; ` +
        'run CONFIG SET maxmemory-policy noeviction, or use another Redis',
    );
  }
}
