import { readRedisAddress } from '@eloquentpoll/ops/redis-address';
import { withTimeout } from '@eloquentpoll/ops/with-timeout';
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { cork } from './cork.ts';
import type { RedisClient } from './redis-client.ts';

// The options of every connection to Redis. A producer fails at once while Redis is away, so that a request never hangs
// on it; a consumer waits as long as it takes; a subscriber reconnects. `socketTimeout` detects half-open connections. Of a
// cluster a client has a connection to each master.

const COMMAND_TIMEOUT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 3_000;
const SOCKET_TIMEOUT_MS = 3_000;
/** A consumer without a job hears from Redis every 5 s. */
const CONSUMER_SOCKET_TIMEOUT_MS = 8_000;
/** A slot that moved is heard of at the next command to it; this is for those that nothing asks. */
const SLOTS_REFRESH_MS = 5_000;

const reconnect = (times: number): number => Math.min(50 * 2 ** Math.min(times, 6), 2_000) * (0.75 + Math.random() / 2);

interface Manner {
  redis: Pick<
    RedisOptions,
    | 'autoResubscribe'
    | 'commandTimeout'
    | 'connectionName'
    | 'enableOfflineQueue'
    | 'maxRetriesPerRequest'
    | 'socketTimeout'
  >;
  cluster: Pick<ClusterOptions, 'enableOfflineQueue' | 'shardedSubscribers'>;
}

export const producer = (url: string): RedisClient =>
  open(url, {
    redis: {
      socketTimeout: SOCKET_TIMEOUT_MS,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: COMMAND_TIMEOUT_MS,
    },
    cluster: { enableOfflineQueue: false },
  });

export const consumer = (url: string): RedisClient =>
  open(url, {
    redis: { socketTimeout: CONSUMER_SOCKET_TIMEOUT_MS, maxRetriesPerRequest: null },
    cluster: { enableOfflineQueue: true },
  });

export const subscriber = (url: string, connectionName: string): RedisClient =>
  open(url, {
    redis: {
      socketTimeout: SOCKET_TIMEOUT_MS,
      connectionName,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResubscribe: false,
    },
    cluster: { enableOfflineQueue: false, shardedSubscribers: true },
  });

function open(url: string, { redis, cluster }: Manner): RedisClient {
  const address = readRedisAddress(url);
  const common = { connectTimeout: CONNECT_TIMEOUT_MS, lazyConnect: true, ...redis };
  if (!address || address.kind === 'server') return cork(new Redis(url, { ...common, retryStrategy: reconnect }));
  const { hosts, username, password, isEncrypted, master } = address;
  const known = {
    ...common,
    ...(username && { username }),
    ...(password && { password }),
    ...(isEncrypted && { tls: {} }),
  };
  if (address.kind === 'sentinel') {
    const sentinels = hosts.map(({ host, port }) => ({ host, port }));
    const ofSentinel = {
      sentinels,
      name: master!,
      sentinelRetryStrategy: reconnect,
      ...(isEncrypted && { sentinelTLS: {} }),
    };
    return cork(new Redis({ ...known, ...ofSentinel, retryStrategy: reconnect }));
  }
  // Offline queues are the cluster's own: a node that is not connected yet keeps what is sent to it.
  const { enableOfflineQueue: _, ...ofNodes } = known;
  const client = new Cluster([...hosts], {
    ...cluster,
    lazyConnect: true,
    clusterRetryStrategy: reconnect,
    slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
    slotsRefreshInterval: SLOTS_REFRESH_MS,
    // Certificates name hosts; an address of a plain connection needs no look-up.
    ...(isEncrypted && { dnsLookup: (host: string, found: (error: null, host: string) => void) => found(null, host) }),
    redisOptions: ofNodes,
  });
  client.on('+node', cork);
  // Its listeners are typed by what they return.
  return client as unknown as RedisClient;
}

/** Whether channels belong to a slot: messages of other channels go through every node of a cluster. */
export const isCluster = (redis: RedisClient): boolean => redis instanceof Cluster;

/** Each server that takes writes. */
export const mastersOf = (redis: RedisClient): RedisClient[] =>
  redis instanceof Cluster ? redis.nodes('master') : [redis];

/** Sends QUIT, and disconnects if Redis does not reply. */
export async function quit(redis: RedisClient, withinMs = 500): Promise<void> {
  if (redis.status === 'end') return;
  if (redis.status === 'ready') await withTimeout(redis.quit(), withinMs).catch(() => undefined);
  redis.disconnect();
}
