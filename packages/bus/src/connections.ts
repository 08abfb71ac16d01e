import { type RedisAddress, readRedisAddress } from '@eloquentpoll/ops/redis-address';
import { withTimeout } from '@eloquentpoll/ops/with-timeout';
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { cork } from './cork.ts';
import type { RedisClient } from './redis-client.ts';

// The options of every connection to Redis. A producer fails at once while Redis is down, so that no request hangs; a
// subscriber reconnects. `socketTimeout` detects half-open connections. A cluster client has a connection to each
// master.

export const COMMAND_TIMEOUT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 3_000;
const SOCKET_TIMEOUT_MS = 3_000;
/** Time limit of the first connection. */
const START_TIMEOUT_MS = 10_000;
/** A moved slot is noticed at the next command to it. This interval is for slots that receive no commands. */
const SLOTS_REFRESH_MS = 5_000;
/** During a failover, the old and the new master may redirect to each other. */
const MOVED_RETRY_MS = 50;

/** The wait before the next attempt, after `times` failed ones. */
export const backoffMs = (times: number): number =>
  Math.min(50 * 2 ** Math.min(times, 6), 2_000) * (0.75 + Math.random() / 2);

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
  cluster: Pick<ClusterOptions, 'enableOfflineQueue'>;
}

export const producer = (url: string, commandTimeout = COMMAND_TIMEOUT_MS): RedisClient =>
  open(url, {
    redis: {
      socketTimeout: SOCKET_TIMEOUT_MS,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout,
    },
    cluster: { enableOfflineQueue: false },
  });

const ofSubscriber = {
  socketTimeout: SOCKET_TIMEOUT_MS,
  maxRetriesPerRequest: 0,
  autoResubscribe: false,
};

/** The subscriber connection for a single Redis. */
export const subscriber = (url: string, connectionName: string): RedisClient =>
  open(url, {
    redis: { ...ofSubscriber, connectionName, enableOfflineQueue: false },
    cluster: { enableOfflineQueue: false },
  });

/** The subscriber connection to one server of a cluster, at `host:port`. It does not reconnect. */
export function nodeSubscriber(url: string, connectionName: string, address: string, commandTimeout: number): Redis {
  const at = address.lastIndexOf(':');
  return cork(
    new Redis({
      ...ofSubscriber,
      ...credentialsOf(readRedisAddress(url)!),
      host: address.slice(0, at),
      port: Number(address.slice(at + 1)),
      connectionName,
      connectTimeout: CONNECT_TIMEOUT_MS,
      commandTimeout,
      enableReadyCheck: false,
      lazyConnect: true,
      retryStrategy: null,
    }),
  );
}

function open(url: string, { redis, cluster }: Manner): RedisClient {
  const address = readRedisAddress(url);
  const common = { connectTimeout: CONNECT_TIMEOUT_MS, lazyConnect: true, ...redis };
  if (!address || address.kind === 'server') return cork(new Redis(url, { ...common, retryStrategy: backoffMs }));
  const { hosts, isEncrypted, master } = address;
  const known = { ...common, ...credentialsOf(address) };
  if (address.kind === 'sentinel') {
    const sentinels = hosts.map(({ host, port }) => ({ host, port }));
    const ofSentinel = {
      sentinels,
      name: master!,
      sentinelRetryStrategy: backoffMs,
      ...(isEncrypted && { sentinelTLS: {} }),
    };
    return cork(new Redis({ ...known, ...ofSentinel, retryStrategy: backoffMs }));
  }
  // In a cluster, only the cluster client fails fast: its connections to the nodes queue commands until they are
  // connected.
  const { enableOfflineQueue: _, ...ofNodes } = known;
  const client = new Cluster([...hosts], {
    ...cluster,
    lazyConnect: true,
    clusterRetryStrategy: backoffMs,
    slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
    retryDelayOnMoved: MOVED_RETRY_MS,
    slotsRefreshInterval: SLOTS_REFRESH_MS,
    // Certificates name hosts, so with TLS the client must use host names and not look up their addresses.
    ...(isEncrypted && { dnsLookup: (host: string, found: (error: null, host: string) => void) => found(null, host) }),
    redisOptions: ofNodes,
  });
  client.on('+node', (node: Redis) => {
    cork(node);
    catchAsking(node);
  });
  if (redis.commandTimeout !== undefined) limitAllTries(client, redis.commandTimeout);
  // The types differ only in what the listener methods return.
  return client as unknown as RedisClient;
}

/** The client does not await ASKING while a slot moves, and an unhandled rejection would end the process. */
function catchAsking(node: Redis): void {
  const ask = node.asking.bind(node);
  node.asking = () => {
    const asked = ask();
    asked.catch(() => undefined);
    return asked;
  };
}

/**
 * A cluster client repeats a command after a move, and up to 16 times while a master is down. This limits all attempts
 * together.
 */
function limitAllTries(client: Cluster, ms: number): void {
  const send = client.sendCommand.bind(client);
  client.sendCommand = (command, ...others) => {
    command.setTimeout(ms);
    return send(command, ...others);
  };
}

/**
 * Resolves when the client is ready. A cluster client's own `connect` never settles if the first server reports that
 * the cluster is down, although the client keeps trying.
 */
export async function connectFirst(redis: RedisClient): Promise<void> {
  const connected = redis.connect();
  connected.catch(() => undefined);
  const ready = new Promise<void>((resolve) => redis.once('ready', () => resolve()));
  await withTimeout(Promise.race([connected, ready]), START_TIMEOUT_MS);
}

const credentialsOf = ({ username, password, isEncrypted }: RedisAddress) => ({
  ...(username && { username }),
  ...(password && { password }),
  ...(isEncrypted && { tls: {} }),
});

/** Returns the client as a cluster client, or null if it is none. */
export const clusterOf = (redis: RedisClient): Cluster | null => (redis instanceof Cluster ? redis : null);

/** Whether this is a cluster. There, channels must belong to a slot, because other messages pass through every node. */
export const isCluster = (redis: RedisClient): boolean => redis instanceof Cluster;

/** The servers that accept writes. */
export const mastersOf = (redis: RedisClient): RedisClient[] =>
  redis instanceof Cluster ? redis.nodes('master') : [redis];

/** Sends QUIT, and disconnects if Redis does not reply. */
export async function quit(redis: RedisClient, withinMs = 500): Promise<void> {
  if (redis.status === 'end') return;
  if (redis.status === 'ready') await withTimeout(redis.quit(), withinMs).catch(() => undefined);
  redis.disconnect();
}
