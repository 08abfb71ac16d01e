import { Redis } from 'ioredis';

// The options of every connection to Redis, in one place. A producer fails at once while Redis is away, so that a
// request never hangs on it; a consumer waits as long as it takes; a subscriber reconnects and subscribes again.

const COMMAND_TIMEOUT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 3_000;

const reconnect = (times: number): number => Math.min(50 * 2 ** Math.min(times, 6), 2_000) * (0.75 + Math.random() / 2);

const base = { connectTimeout: CONNECT_TIMEOUT_MS, retryStrategy: reconnect, lazyConnect: true };

export const producer = (url: string): Redis =>
  new Redis(url, { ...base, enableOfflineQueue: false, maxRetriesPerRequest: 0, commandTimeout: COMMAND_TIMEOUT_MS });

export const consumer = (url: string): Redis => new Redis(url, { ...base, maxRetriesPerRequest: null });

export const subscriber = (url: string, connectionName: string): Redis =>
  new Redis(url, {
    ...base,
    connectionName,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResubscribe: true,
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
