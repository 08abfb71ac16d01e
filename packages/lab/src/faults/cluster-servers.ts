import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterServer, RedisCluster } from '@eloquentpoll/services/redis-cluster';
import { Redis } from 'ioredis';

// Asks the servers of a cluster about its state, bypassing the faulty network.

export interface ClusterMaster {
  readonly server: ClusterServer;
  /** Ranges: the first and the last slot. */
  readonly slots: readonly (readonly [number, number])[];
}

interface ClusterNode {
  id: string;
  isMyself: boolean;
  isMaster: boolean;
  hasFailed: boolean;
  slots: (readonly [number, number])[];
  /** Slots whose move to or from this server has not ended. Servers say this only about themselves. */
  moving: number[];
}

const SLOTS = 16_384;
const ANSWERS_WITHIN_MS = 3_000;
const LOOK_EVERY_MS = 50;

/** Uses a new connection, which is closed afterwards. */
export async function onServer<T>(
  { url }: ClusterServer,
  work: (redis: Redis) => Promise<T>,
  withinMs = ANSWERS_WITHIN_MS,
): Promise<T> {
  const redis = new Redis(url, {
    lazyConnect: true,
    retryStrategy: null,
    commandTimeout: withinMs,
    connectTimeout: withinMs,
  });
  redis.on('error', () => {});
  try {
    await redis.connect();
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

/** The servers that consider themselves masters with slots. */
export async function mastersNow({ servers }: RedisCluster): Promise<ClusterMaster[]> {
  const asked = servers.map(async (server) => {
    const own = (await nodesBy(server)).find(({ isMyself }) => isMyself);
    return own?.isMaster && own.slots.length > 0 ? [{ server, slots: own.slots }] : [];
  });
  const found = await Promise.allSettled(asked);
  return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
}

/** Waits until another server has its slots or, if it is reachable, it has them itself. Null if that took too long. */
export async function servedAgainMs(
  { servers }: RedisCluster,
  { server, slots }: ClusterMaster,
  isReachable: () => boolean,
  withinMs: number,
): Promise<number | null> {
  const began = performance.now();
  const slot = slots[0]![0];
  while (performance.now() < began + withinMs) {
    for (const other of servers) {
      if (other === server && !isReachable()) continue;
      const owner = await nodesBy(other).then(
        (nodes) => nodes.find((node) => node.slots.some(([from, to]) => from <= slot && slot <= to)),
        () => null,
      );
      const isServed = owner && !owner.hasFailed && (owner.id === server.id ? other === server : other.id === owner.id);
      if (isServed) return performance.now() - began;
    }
    await sleep(LOOK_EVERY_MS);
  }
  return null;
}

/** Waits until each slot has a master that all servers know, and no slot is half moved. */
export async function untilClusterIsWhole({ servers }: RedisCluster, withinMs: number): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    const lacks = (await Promise.all(servers.map((server) => whatLacks(server, servers.length)))).filter(Boolean);
    if (lacks.length === 0) return;
    if (performance.now() > giveUpAt) throw new Error(`the Redis cluster is not whole: ${lacks.join('; ')}`);
    await sleep(LOOK_EVERY_MS);
  }
}

/** In the view of this server. Empty if nothing does. */
async function whatLacks(server: ClusterServer, count: number): Promise<string> {
  try {
    const nodes = (await nodesBy(server)).filter(({ hasFailed }) => !hasFailed);
    const moving = nodes.flatMap((node) => node.moving);
    if (moving.length > 0) {
      await endMoves(server);
      return `${server.name} was moving slots ${moving.join(', ')}`;
    }
    const covered = nodes.flatMap(({ slots }) => slots).reduce((sum, [from, to]) => sum + to - from + 1, 0);
    return covered === SLOTS && nodes.length === count
      ? ''
      : `${server.name} knows ${nodes.length} of ${count} servers, with ${covered} of ${SLOTS} slots`;
  } catch (error) {
    return `${server.name}: ${error}`;
  }
}

/**
 * A server that was killed or did not answer while a slot moved still redirects clients to a server that no longer
 * expects them, for ever.
 */
export async function endMoves(server: ClusterServer): Promise<void> {
  const moving = (await nodesBy(server)).flatMap((node) => node.moving);
  for (const slot of moving) await onServer(server, (redis) => redis.call('CLUSTER', 'SETSLOT', slot, 'STABLE'));
}

async function nodesBy(server: ClusterServer): Promise<ClusterNode[]> {
  if (server.process.hasEnded) return [];
  const text = await onServer(server, (redis) => redis.call('CLUSTER', 'NODES'));
  return String(text).trim().split('\n').map(readNode);
}

/** `id address flags master ping pong epoch link slots`; a slot being moved is in brackets. */
function readNode(line: string): ClusterNode {
  const [id = '', , flagText = '', , , , , , ...ranges] = line.split(' ');
  const flags = flagText.split(',');
  return {
    id,
    isMyself: flags.includes('myself'),
    isMaster: flags.includes('master'),
    hasFailed: flags.some((flag) => flag.startsWith('fail')),
    slots: ranges
      .filter((range) => !range.startsWith('['))
      .map((range) => {
        const [from = 0, to = from] = range.split('-').map(Number);
        return [from, to] as const;
      }),
    moving: ranges.flatMap((range) => /^\[(\d+)-/.exec(range)?.[1] ?? []).map(Number),
  };
}
