import { mastersOf } from './connections.ts';
import type { RedisClient } from './redis-client.ts';

/**
 * A Redis that evicts keys under memory pressure drops jobs without an error, so the service does not start on
 * one. Where CONFIG is forbidden (managed Redis), INFO says the same.
 */
export async function refuseEviction(redis: RedisClient): Promise<void> {
  for (const master of mastersOf(redis)) {
    const policy = /^maxmemory_policy:(\S+)/m.exec(await master.info('memory'))?.[1];
    if (policy === 'noeviction') continue;
    throw new Error(
      `REDIS_URL: maxmemory-policy is ${policy ?? 'unknown'}, and a queue loses jobs on any other than noeviction; ` +
        'run CONFIG SET maxmemory-policy noeviction, or use another Redis',
    );
  }
}
