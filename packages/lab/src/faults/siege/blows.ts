import { setTimeout as sleep } from 'node:timers/promises';
import type { RestartableServers } from '@eloquentpoll/services/restartable';
import type { Stores } from '../../fixture/stores.ts';
import type { FaultProxy } from '../../proxy/fault-proxy.ts';
import { CALM, type Weather } from '../../proxy/weather.ts';
import type { Chance } from '../../terminal/chance.ts';
import type { Fleet, Role, Slot } from './fleet.ts';

// What can happen to the service, by name. Each blow is over when it resolves: what it broke is mended or on its way.

export interface Blow {
  readonly kind: BlowKind;
  readonly target: string;
  readonly at: number;
  readonly until: number;
  /** How the process left; for those that were asked to. */
  readonly exit?: number | null;
  /** Who was struck, as it stands in the leases. */
  readonly worker?: string | null;
}

export interface Field {
  readonly fleet: Fleet;
  readonly servers: RestartableServers;
  readonly stores: Stores;
  readonly signal: AbortSignal;
}

type Struck = { target: string; exit?: number | null; worker?: string | null };

/** Null: there is nobody to strike just now. */
type Strike = (field: Field, chance: Chance) => Promise<Struck | null>;

export const BLOWS = {
  'kill worker': end('worker', 'SIGKILL'),
  'kill gateway': end('gateway', 'SIGKILL'),
  'term worker': end('worker', 'SIGTERM'),
  'term gateway': end('gateway', 'SIGTERM'),
  /** Longer than a lease: what goes on afterwards is a zombie. */
  'stop worker': stop('worker', [8_500, 14_500]),
  'stop gateway': stop('gateway', [1_000, 8_000]),
  flushall: async ({ stores }) => {
    await stores.bus.redis.flushall();
    return { target: 'redis' };
  },
  'kill redis': ({ servers, signal }, chance) => bounce(servers.redis, 'SIGKILL', chance, signal),
  'kill redis, lose all': ({ servers, signal }, chance) => bounce(servers.redis, 'SIGKILL', chance, signal, true),
  'stop postgres at once': ({ servers, signal }, chance) => bounce(servers.postgres, 'SIGQUIT', chance, signal),
  'kill postgres': ({ servers, signal }, chance) => bounce(servers.postgres, 'SIGKILL', chance, signal),
  'disk full': async ({ servers: { disk }, signal }, chance) => {
    if (!disk) return null;
    await disk.fill();
    await restFor(chance.whole(1_000, 4_000), signal);
    await disk.free();
    return { target: 'postgres' };
  },
  'slow link': weather((chance) => ({ latencyMs: chance.whole(20, 300), jitterMs: chance.whole(0, 200) })),
  'narrow link': weather((chance) => ({ bytesPerSecond: chance.whole(5_000, 50_000) })),
  'sliced link': weather((chance) => ({ sliceBytes: chance.whole(1, 40) })),
  'dead link': weather(() => ({ blackhole: true })),
  'refusing link': weather(() => ({ refuse: true }), true),
  'reset link': async ({ fleet }, chance) => {
    const link = chance.pick(fleet.links);
    link.reset();
    return { target: link.name };
  },
  'half-open link': async ({ fleet, signal }, chance) => {
    const link = chance.pick(fleet.links);
    link.halfOpen();
    // Nobody tells the near end before its own patience is over, or this is.
    await restFor(chance.whole(3_000, 15_000), signal);
    link.reset();
    return { target: link.name };
  },
} as const satisfies Record<string, Strike>;

export type BlowKind = keyof typeof BLOWS;

export const PROCESS_KILLS: readonly BlowKind[] = [
  'kill worker',
  'kill gateway',
  'kill redis',
  'kill redis, lose all',
  'stop postgres at once',
  'kill postgres',
];

export async function land(kind: BlowKind, field: Field, chance: Chance): Promise<Blow | null> {
  const at = Date.now();
  const struck = await BLOWS[kind](field, chance);
  return struck && { kind, at, until: Date.now(), ...struck };
}

function able({ slots }: Fleet, role: Role): Slot[] {
  return slots.filter((slot) => slot.role === role && slot.service?.hasEnded === false && !slot.struck);
}

async function striking(field: Field, role: Role, chance: Chance, blow: (slot: Slot) => Promise<Struck>) {
  const candidates = able(field.fleet, role);
  if (candidates.length === 0) return null;
  const slot = chance.pick(candidates);
  slot.struck = true;
  try {
    return await blow(slot);
  } finally {
    slot.struck = false;
  }
}

const workerOf = ({ service }: Slot): string | null => String(service?.ready.worker_id ?? '') || null;

function end(role: Role, how: 'SIGKILL' | 'SIGTERM'): Strike {
  return (field, chance) =>
    striking(field, role, chance, async (slot) => {
      const worker = workerOf(slot);
      const { code } = await field.fleet.end(slot, how);
      return { target: slot.name, worker, ...(how === 'SIGTERM' && { exit: code }) };
    });
}

function stop(role: Role, [low, high]: readonly [number, number]): Strike {
  return (field, chance) =>
    striking(field, role, chance, async (slot) => {
      const service = slot.service!;
      service.signal('SIGSTOP');
      await restFor(chance.whole(low, high), field.signal);
      service.signal('SIGCONT');
      return { target: slot.name, worker: workerOf(slot) };
    });
}

async function bounce(
  server: RestartableServers['redis'],
  how: 'SIGKILL' | 'SIGQUIT',
  chance: Chance,
  signal: AbortSignal,
  empty = false,
): Promise<Struck> {
  await server.kill(how);
  await restFor(chance.whole(0, 4_000), signal);
  await server.start({ empty });
  return { target: new URL(server.url).protocol.slice(0, -1) };
}

function weather(make: (chance: Chance) => Weather, cut = false): Strike {
  return async ({ fleet, signal }, chance) => {
    const link: FaultProxy = chance.pick(fleet.links);
    link.set(make(chance));
    if (cut) link.reset();
    await restFor(chance.whole(1_000, 9_000), signal);
    link.set(CALM);
    return { target: link.name };
  };
}

/** A siege that is over mends what it broke at once. */
async function restFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
