import { mastersOf } from './connections.ts';
import type { RedisClient } from './redis-client.ts';

/**
 * A Redis that evicts keys under memory pressure drops jobs without an error, so the service refuses to start with one.
 * Where CONFIG is forbidden (managed Redis), INFO has the same setting. In a cluster, the masters that answer are
 * checked.
 */
export async function refuseEviction(redis: RedisClient): Promise<void> {
  const asked = await Promise.allSettled(mastersOf(redis).map((master) => master.info('memory')));
  const [first] = asked;
  if (first?.status === 'rejected' && asked.every(({ status }) => status === 'rejected')) throw first.reason;
  for (const answer of asked) {
    if (answer.status === 'rejected') continue;
    const policy = /^maxmemory_policy:(\S+)/m.exec(answer.value)?.[1];
    if (policy === 'noeviction') continue;
    throw new Error(
      `REDIS_URL: maxmemory-policy is ${policy ?? 'unknown'}, and a queue loses jobs on any other than noeviction; ` +
        'run CONFIG SET maxmemory-policy noeviction, or use another Redis',
    );
  }
}
