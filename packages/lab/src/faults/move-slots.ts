import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisCluster } from '@eloquentpoll/services/redis-cluster';
import { scanKeys } from '@eloquentpoll/services/redis-keys';
import type { Redis } from 'ioredis';
import type { Chance } from '../terminal/chance.ts';
import { type ClusterMaster, onServer } from './cluster-servers.ts';

// Moves slots with their keys as redis-cli does, but pauses halfway through each: then each server has half of the
// slot's keys, and redirects clients to the other.

const MAX_HALFWAY_MS = 60;
const MIGRATE_WITHIN_MS = 2_000;
const KEYS_AT_ONCE = 500;

/**
 * Moves these slots and returns how many were moved. If one of the servers goes down, the move in progress is cleaned
 * up.
 */
export async function moveSlots(
  cluster: RedisCluster,
  [source, target]: readonly [ClusterMaster, ClusterMaster],
  slots: readonly number[],
  chance: Chance,
): Promise<number> {
  const password = decodeURIComponent(new URL(source.server.url).password);
  const to = ['127.0.0.1', target.server.port, '', 0, MIGRATE_WITHIN_MS, 'REPLACE', 'AUTH', password, 'KEYS'] as const;
  const migrate = async (redis: Redis, keys: readonly string[]) => {
    if (keys.length > 0) await redis.call('MIGRATE', ...to, ...keys);
  };
  const settled = (redis: Redis, slot: number) => redis.call('CLUSTER', 'SETSLOT', slot, 'NODE', target.server.id);
  let moved = 0;
  try {
    await onServer(source.server, (from) =>
      onServer(target.server, async (onTo) => {
        for (const slot of slots) {
          await onTo.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', source.server.id);
          await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', target.server.id);
          const keys = await keysIn(from, slot);
          await migrate(from, keys.slice(0, keys.length / 2));
          if (keys.length > 0) await sleep(chance.whole(0, MAX_HALFWAY_MS));
          for (let left = await keysIn(from, slot); left.length > 0; left = await keysIn(from, slot))
            await migrate(from, left);
          await settled(onTo, slot);
          await settled(from, slot);
          moved += 1;
        }
      }),
    );
  } finally {
    if (moved < slots.length) await settle(cluster, slots[moved]!);
  }
  return moved;
}

/** Some slots of a master: often one of a queue, some with keys of the experiment, and others. */
export async function slotsToMove(
  { server, slots }: ClusterMaster,
  { count, prefix }: { count: number; prefix: string },
  chance: Chance,
): Promise<number[]> {
  const chosen = new Set<number>();
  await onServer(server, async (redis) => {
    const ofQueues: string[] = [];
    for await (const keys of scanKeys(redis, `{${prefix}*`)) ofQueues.push(...keys);
    if (ofQueues.length > 0 && chance.happens(0.5))
      chosen.add(Number(await redis.call('CLUSTER', 'KEYSLOT', chance.pick(ofQueues))));
    for (let i = 0; i < count / 2; i++) {
      const key = await redis.randomkey();
      if (key !== null) chosen.add(Number(await redis.call('CLUSTER', 'KEYSLOT', key)));
    }
  });
  const [from, to] = chance.pick(slots);
  for (let slot = from; slot <= to && chosen.size < count; slot++) chosen.add(slot);
  return [...chosen];
}

async function keysIn(redis: Redis, slot: number): Promise<string[]> {
  return (await redis.call('CLUSTER', 'GETKEYSINSLOT', slot, KEYS_AT_ONCE)) as string[];
}

/** Ends the move on all servers. Keys that had arrived on a server which does not own the slot are lost. */
async function settle({ servers }: RedisCluster, slot: number): Promise<void> {
  const alive = servers.filter(({ process }) => !process.hasEnded);
  await Promise.allSettled(
    alive.map((server) => onServer(server, (redis) => redis.call('CLUSTER', 'SETSLOT', slot, 'STABLE'))),
  );
}
