import type { Redis } from 'ioredis';
import { CorkedRedis } from './corked-redis.ts';

// The options of every connection to Redis, in one place. A producer fails at once while Redis is away, so that a
// request never hangs on it; a consumer waits as long as it takes; a subscriber reconnects and subscribes again. Whoever
// waits for an answer and hears nothing at all gives the connection up and makes a new one: a Redis that is gone without
// a word (its machine restarted, a router forgot us) would otherwise be waited for until the kernel notices.

const COMMAND_TIMEOUT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 3_000;
const SILENCE_MS = 3_000;
/** A consumer without a job hears from Redis every 5 s. */
const CONSUMER_SILENCE_MS = 8_000;

const reconnect = (times: number): number => Math.min(50 * 2 ** Math.min(times, 6), 2_000) * (0.75 + Math.random() / 2);

const base = {
  connectTimeout: CONNECT_TIMEOUT_MS,
  socketTimeout: SILENCE_MS,
  retryStrategy: reconnect,
  lazyConnect: true,
};

export const producer = (url: string): Redis =>
  new CorkedRedis(url, {
    ...base,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
  });

export const consumer = (url: string): Redis =>
  new CorkedRedis(url, { ...base, socketTimeout: CONSUMER_SILENCE_MS, maxRetriesPerRequest: null });

export const subscriber = (url: string, connectionName: string): Redis =>
  new CorkedRedis(url, {
    ...base,
    connectionName,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResubscribe: false,
  });

/** QUIT tells Redis good-bye; a Redis that does not answer is left without one. */
export async function hangUp(redis: Redis, withinMs = 500): Promise<void> {
  if (redis.status === 'end') return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, withinMs);
  });
  const bye = redis.status === 'ready' ? redis.quit().then(() => undefined) : Promise.resolve();
  await Promise.race([bye.catch(() => undefined), late]);
  clearTimeout(timer);
  redis.disconnect();
}
