import type { ClusterServer, RedisCluster } from '@eloquentpoll/services/redis-cluster';
import { sleepUnlessAborted } from '../fixture/sleep-unless-aborted.ts';
import type { Chance } from '../terminal/chance.ts';
import type { ClusterNetwork } from './cluster-network.ts';
import { type ClusterMaster, endMoves, mastersNow, onServer, servedAgainMs } from './cluster-servers.ts';
import type { Inject } from './fault-kinds.ts';
import { moveSlots, slotsToMove } from './move-slots.ts';

// Faults of a Redis cluster. One injector injects them one after the other, so that two of three masters are always up
// to elect the third's successor.

export interface ClusterUnderFaults {
  readonly cluster: RedisCluster;
  readonly network: ClusterNetwork;
}

/** Twice the node timeout, an election, and allowance for a busy machine. */
const SERVED_WITHIN_MS = 30_000;
/** A server that waits for its disk does not answer meanwhile. */
const OBEYS_WITHIN_MS = 30_000;
const MAX_MOVED_SLOTS = 60;

interface Struck extends ClusterUnderFaults {
  readonly chance: Chance;
  /** Prefix of all keys. */
  readonly prefix: string;
  /** Resolves early when the campaign ends. */
  pause(low: number, high: number): Promise<void>;
}

export const CLUSTER_FAULTS = {
  // Either shorter or longer than a failover.
  'kill master': onMaster((struck, { server }) => bounce(struck, server, 6_000)),
  /** The master returns empty before it is declared dead, so its replica empties itself too. */
  'kill master, lose all': onMaster((struck, { server }) => bounce(struck, server, 0, true)),
  'stop master': onMaster(async ({ pause }, { server }) => {
    server.process.signal('SIGSTOP');
    await pause(500, 9_000);
    server.process.signal('SIGCONT');
  }),
  /** Clients can reach it, other servers cannot: for a while, two masters own the same slots. */
  'isolate master': onMaster(async ({ network, pause }, { server }) => {
    const isAlone = network.isolate(server.name);
    if (isAlone) await pause(1_000, 9_000);
    network.rejoin();
    return isAlone;
  }),
  /** The other servers can reach it, so no replica takes over. */
  'master without clients': onMaster(async ({ network, pause }, { server }) => {
    const link = network.links.find(({ name }) => name === server.name)!;
    link.set({ blackhole: true });
    await pause(1_000, 8_000);
    link.set({});
  }),
  'full master': onMaster(async ({ pause }, { server }) => {
    const allow = (bytes: number) =>
      onServer(server, (redis) => redis.config('SET', 'maxmemory', bytes), OBEYS_WITHIN_MS);
    await allow(1);
    await pause(500, 5_000);
    await allow(0);
  }),
  'kill replica': onCluster(async (struck) => {
    const masters = new Set((await mastersNow(struck.cluster)).map(({ server }) => server));
    const replicas = struck.cluster.servers.filter((server) => !masters.has(server) && !server.process.hasEnded);
    if (replicas.length === 0) return null;
    const server = struck.chance.pick(replicas);
    await bounce(struck, server, 4_000);
    return { target: server.name };
  }),
  'flush masters': onCluster(async ({ cluster }) => {
    const masters = await mastersNow(cluster);
    await Promise.all(masters.map(({ server }) => onServer(server, (redis) => redis.flushall(), OBEYS_WITHIN_MS)));
    return { target: `${masters.length} masters` };
  }),
  'move slots': onCluster(async ({ cluster, chance, prefix }) => {
    const masters = await mastersNow(cluster);
    if (masters.length < 2) return null;
    const source = chance.pick(masters);
    const target = chance.pick(masters.filter((master) => master !== source));
    // Another fault may hit either server meanwhile.
    try {
      const slots = await slotsToMove(source, { count: chance.whole(1, MAX_MOVED_SLOTS), prefix }, chance);
      const moved = await moveSlots(cluster, [source, target], slots, chance);
      return { target: `${moved} from ${source.server.name} to ${target.server.name}` };
    } catch {
      return null;
    }
  }),
} as const satisfies Record<string, Inject>;

function onCluster(fault: (struck: Struck) => ReturnType<Inject>): Inject {
  return async ({ cluster, stores, signal }, chance) => {
    if (!cluster) return null;
    const pause = (low: number, high: number) => sleepUnlessAborted(chance.whole(low, high), signal);
    return fault({ ...cluster, chance, prefix: stores.redisPrefix, pause });
  };
}

/** `fault` resolves to false if it is not possible here. */
function onMaster(fault: (struck: Struck, master: ClusterMaster) => Promise<boolean | void>): Inject {
  return onCluster(async (struck) => {
    const masters = await mastersNow(struck.cluster);
    if (masters.length === 0) return null;
    const master = struck.chance.pick(masters);
    let isOver = false;
    const served = servedAgainMs(struck.cluster, master, () => isOver, SERVED_WITHIN_MS);
    const done = await fault(struck, master);
    isOver = true;
    const awayMs = await served;
    return done === false ? null : { target: master.server.name, ...(awayMs !== null && { awayMs }) };
  });
}

async function bounce({ pause }: Struck, server: ClusterServer, maxPauseMs: number, empty = false): Promise<void> {
  server.process.signal('SIGKILL');
  await server.process.exited;
  await pause(0, maxPauseMs);
  await server.startAgain({ empty });
  // If a move was cut off. When the campaign ends, this is tried again.
  await endMoves(server).catch(() => undefined);
}
