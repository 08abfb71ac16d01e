import { withTimeout } from '@eloquentpoll/ops/with-timeout';
import type { Redis } from 'ioredis';
import { CorkedRedis } from './corked-redis.ts';

// The options of every connection to Redis. A producer fails at once while Redis is away, so that a request never hangs
// on it; a consumer waits as long as it takes; a subscriber reconnects. `socketTimeout` detects half-open connections.

const COMMAND_TIMEOUT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 3_000;
const SOCKET_TIMEOUT_MS = 3_000;
/** A consumer without a job hears from Redis every 5 s. */
const CONSUMER_SOCKET_TIMEOUT_MS = 8_000;

const reconnect = (times: number): number => Math.min(50 * 2 ** Math.min(times, 6), 2_000) * (0.75 + Math.random() / 2);

const base = {
  connectTimeout: CONNECT_TIMEOUT_MS,
  socketTimeout: SOCKET_TIMEOUT_MS,
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
  new CorkedRedis(url, { ...base, socketTimeout: CONSUMER_SOCKET_TIMEOUT_MS, maxRetriesPerRequest: null });

export const subscriber = (url: string, connectionName: string): Redis =>
  new CorkedRedis(url, {
    ...base,
    connectionName,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResubscribe: false,
  });

/** Sends QUIT, and disconnects if Redis does not reply. */
export async function quit(redis: Redis, withinMs = 500): Promise<void> {
  if (redis.status === 'end') return;
  if (redis.status === 'ready') await withTimeout(redis.quit(), withinMs).catch(() => undefined);
  redis.disconnect();
}
