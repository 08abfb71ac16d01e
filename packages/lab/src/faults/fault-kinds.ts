import { queryOnce } from '@eloquentpoll/services/databases';
import type { RestartableServer, RestartableServers } from '@eloquentpoll/services/restartable';
import { sleepUnlessAborted } from '../fixture/sleep-unless-aborted.ts';
import type { Stores } from '../fixture/stores.ts';
import type { FaultProxy } from '../proxy/fault-proxy.ts';
import { type LinkConditions, UNDISTURBED } from '../proxy/link-conditions.ts';
import type { Chance } from '../terminal/chance.ts';
import { CLUSTER_FAULTS, type ClusterUnderFaults } from './cluster-faults.ts';
import type { Failover } from './failover.ts';
import { faultKindsThat, takesOf } from './fault-traits.ts';
import type { Fleet, Role, Slot } from './fleet.ts';
import type { PostgresReplica } from './postgres-replica.ts';

// The faults by name. Each resolves when it is over: what it broke is repaired or about to be.

export interface Fault {
  readonly kind: FaultKind;
  readonly target: string;
  readonly at: number;
  readonly until: number;
  /** Exit code of a process after SIGTERM. */
  readonly exit?: number | null;
  /** When the process that replaces a restarted one was ready. */
  readonly replacedAt?: number;
  /** The worker's id in leases. */
  readonly worker?: string | null;
  /** For a cluster master: how long its slots had no master. */
  readonly awayMs?: number;
  /** For a killed primary: the time until its standby accepted writes. */
  readonly promotedMs?: number;
}

export interface Target {
  readonly fleet: Fleet;
  readonly servers: RestartableServers;
  readonly stores: Stores;
  /** Null if Redis is one server. */
  readonly cluster: ClusterUnderFaults | null;
  /** Names of gateways in the middle of an upload. */
  uploading(): ReadonlySet<string>;
  /** Null without a standby. */
  readonly failover: Failover | null;
  /** Null if gateways have no replica of Postgres. */
  readonly replica: PostgresReplica | null;
  readonly signal: AbortSignal;
}

type Effect = Pick<Fault, 'target' | 'exit' | 'worker' | 'awayMs' | 'promotedMs'> & Partial<Pick<Fault, 'at'>>;

/** Null: no process can be chosen at the moment. */
export type Inject = (target: Target, chance: Chance) => Promise<Effect | null>;

export const FAULTS = {
  'kill worker': end('worker', 'SIGKILL'),
  'kill gateway': end('gateway', 'SIGKILL'),
  'kill gateway during an upload': end('gateway', 'SIGKILL', ({ uploading }) => uploading()),
  'term worker': end('worker', 'SIGTERM'),
  'term gateway': end('gateway', 'SIGTERM'),
  /** Longer than a lease, so that the worker has lost its polls when it continues. */
  'stop worker': stop('worker', [8_500, 14_500]),
  'stop gateway': stop('gateway', [1_000, 8_000]),
  flushall: async ({ stores }) => {
    await stores.bus.redis.flushall();
    return { target: 'redis' };
  },
  'kill redis': async ({ servers: { redis }, signal }, chance) => redis && bounce(redis, 'SIGKILL', chance, signal),
  'kill redis, lose all': async ({ servers: { redis }, signal }, chance) =>
    redis && bounce(redis, 'SIGKILL', chance, signal, true),
  'stop postgres at once': ({ servers, signal }, chance) => bounce(servers.postgres, 'SIGQUIT', chance, signal),
  'kill postgres': ({ servers, signal }, chance) => bounce(servers.postgres, 'SIGKILL', chance, signal),
  'kill pooler': async ({ servers, signal }, chance) => bounce(await servers.pooler(), 'SIGKILL', chance, signal),
  /** Only once: afterwards there is no standby. */
  'fail over': async ({ failover, signal }, chance) => {
    if (!failover) return null;
    const at = await failover.failOver();
    const promotedMs = Date.now() - at;
    await sleepUnlessAborted(chance.whole(1_000, 2_000), signal);
    await failover.reviveOld();
    return { target: 'postgres', at, promotedMs };
  },
  'kill standby': async ({ replica, signal }, chance) =>
    replica && { ...(await bounce(replica.server, 'SIGKILL', chance, signal)), target: 'standby' },
  /** It answers, and gets older: shorter or longer than gateways allow. */
  'pause standby': async ({ replica, signal }, chance) => {
    if (!replica) return null;
    await queryOnce(replica.server.url, 'select pg_wal_replay_pause()');
    await sleepUnlessAborted(chance.whole(1_000, 12_000), signal);
    await queryOnce(replica.server.url, 'select pg_wal_replay_resume()');
    return { target: 'standby' };
  },
  'disk full': async ({ servers: { disk }, signal }, chance) => {
    if (!disk) return null;
    await disk.fill();
    await sleepUnlessAborted(chance.whole(1_000, 4_000), signal);
    await disk.free();
    return { target: 'postgres' };
  },
  'slow link': disturbedLink((chance) => ({ latencyMs: chance.whole(20, 300), jitterMs: chance.whole(0, 200) })),
  'narrow link': disturbedLink((chance) => ({ bytesPerSecond: chance.whole(5_000, 50_000) })),
  'sliced link': disturbedLink((chance) => ({ sliceBytes: chance.whole(1, 40) })),
  'dead link': disturbedLink(() => ({ blackhole: true })),
  'refusing link': disturbedLink(() => ({ refuse: true }), true),
  'reset link': async ({ fleet }, chance) => {
    const link = chance.pick(fleet.links);
    link.reset();
    return { target: link.name };
  },
  'half-open link': async ({ fleet, signal }, chance) => {
    const link = chance.pick(fleet.links);
    link.halfOpen();
    // Ended by the timeout of the near end, or by this pause.
    await sleepUnlessAborted(chance.whole(3_000, 15_000), signal);
    link.reset();
    return { target: link.name };
  },
  ...CLUSTER_FAULTS,
} as const satisfies Record<string, Inject>;

/** Faults that can be injected at any time. */
export type InjectedKind = keyof typeof FAULTS;
export type FaultKind = InjectedKind | 'migrate' | 'roll forward' | 'roll back';

/** Faults that leave slots without a master for a while; `awayMs` says how long. */
export const MASTER_FAULTS: readonly FaultKind[] = faultKindsThat((kind) => takesOf(kind) === 'master');

export async function inject(kind: InjectedKind, target: Target, chance: Chance): Promise<Fault | null> {
  const at = Date.now();
  const effect = await FAULTS[kind](target, chance);
  return effect && { kind, at, until: Date.now(), ...effect };
}

function able({ slots }: Fleet, role: Role): Slot[] {
  return slots.filter((slot) => slot.role === role && slot.app?.hasEnded === false && !slot.isFaulted && !slot.isSpare);
}

async function onSlot(
  target: Target,
  role: Role,
  chance: Chance,
  fault: (slot: Slot) => Promise<Effect>,
  names: ReadonlySet<string> | null = null,
) {
  const candidates = able(target.fleet, role).filter(({ name }) => names === null || names.has(name));
  if (candidates.length === 0) return null;
  const slot = chance.pick(candidates);
  slot.isFaulted = true;
  try {
    return await fault(slot);
  } finally {
    slot.isFaulted = false;
  }
}

const workerOf = ({ app }: Slot): string | null => String(app?.ready.worker_id ?? '') || null;

/** `among`: the names of the slots to choose from; any slot without it. */
function end(
  role: Role,
  how: 'SIGKILL' | 'SIGTERM',
  among: (target: Target) => ReadonlySet<string> | null = () => null,
): Inject {
  return (target, chance) => {
    const fault = async (slot: Slot): Promise<Effect> => {
      const worker = workerOf(slot);
      const { code } = await target.fleet.end(slot, how);
      return { target: slot.name, worker, ...(how === 'SIGTERM' && { exit: code }) };
    };
    return onSlot(target, role, chance, fault, among(target));
  };
}

function stop(role: Role, [low, high]: readonly [number, number]): Inject {
  return (target, chance) =>
    onSlot(target, role, chance, async (slot) => {
      const app = slot.app!;
      app.signal('SIGSTOP');
      await sleepUnlessAborted(chance.whole(low, high), target.signal);
      app.signal('SIGCONT');
      return { target: slot.name, worker: workerOf(slot) };
    });
}

async function bounce(
  server: RestartableServer,
  how: 'SIGKILL' | 'SIGQUIT',
  chance: Chance,
  signal: AbortSignal,
  empty = false,
): Promise<Effect> {
  await server.kill(how);
  await sleepUnlessAborted(chance.whole(0, 4_000), signal);
  await server.start({ empty });
  return { target: new URL(server.url).protocol.slice(0, -1) };
}

function disturbedLink(make: (chance: Chance) => LinkConditions, cut = false): Inject {
  return async ({ fleet, signal }, chance) => {
    const link: FaultProxy = chance.pick(fleet.links);
    link.set(make(chance));
    if (cut) link.reset();
    await sleepUnlessAborted(chance.whole(1_000, 9_000), signal);
    link.set(UNDISTURBED);
    return { target: link.name };
  };
}
