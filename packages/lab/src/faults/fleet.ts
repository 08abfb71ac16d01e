import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '@eloquentpoll/launch/failure';
import { asRole } from '@eloquentpoll/services/databases';
import type { Exit, ProcessGroup } from '@eloquentpoll/services/process-group';
import type { LogLine, RunningApp } from '@eloquentpoll/services/start-app';
import { GATEWAY_ROLE, WORKER_ROLE } from '@eloquentpoll/storage';
import { startModule } from '../fixture/modules.ts';
import { type FaultProxy, openFaultProxy } from '../proxy/fault-proxy.ts';
import { type Found, markersIn } from './find-markers.ts';
import { REPLICA_LAG_S } from './postgres-replica.ts';
import type { Release } from './releases/release.ts';
import { untilReady } from './until-ready.ts';

// The processes of the product, each in a slot with its own links to everything that it connects to. A process that
// ends is replaced in its slot, as a supervisor would do; a crash is recorded.

export type Role = 'gateway' | 'worker';

export interface Slot {
  readonly name: string;
  readonly role: Role;
  /** To Redis, Postgres and the models; for a gateway also from its callers. */
  readonly links: Readonly<Record<string, FaultProxy>>;
  /** Null while the process is being replaced. */
  app: RunningApp | null;
  /** A fault is being injected, so it must not be chosen again. */
  isFaulted: boolean;
  /** Kept so that work can always be taken over: its links fail like others, but it is never killed. */
  readonly isSpare: boolean;
  /** The release of the next process; null for the sources of this checkout. */
  release: Release | null;
}

export interface ProcessStart {
  readonly slot: string;
  readonly release: string | null;
  /** The worker's id in leases. */
  readonly worker: string | null;
  readonly at: number;
}

export interface Fleet extends AsyncDisposable {
  readonly slots: readonly Slot[];
  readonly links: readonly FaultProxy[];
  /** Processes that ended without an injected fault. */
  readonly crashes: readonly string[];
  /** Warnings and errors of the processes, counted by text. */
  readonly warnings: ReadonlyMap<string, number>;
  readonly startsMs: readonly number[];
  readonly started: readonly ProcessStart[];
  /** Markers found in their logs. */
  readonly logged: readonly Found[];
  /** Ends the process of a slot and waits until it has ended; its replacement is then being started. */
  end(slot: Slot, signal: 'SIGKILL' | 'SIGTERM', withinMs?: number): Promise<Exit>;
  /** Resolves when every slot has a ready process; fails if that takes too long. */
  complete(signal?: AbortSignal, withinMs?: number): Promise<void>;
}

export interface CampaignFleetOptions {
  group: ProcessGroup;
  gateways: number;
  workers: number;
  /** Number of additional workers. */
  spares: number;
  databaseUrl: string;
  /** URL of the standby's copy of the database; each process knows both addresses. */
  standbyUrl?: string;
  /** URL of the database on a replica, for the lists of gateways. */
  replicaUrl?: string;
  redisUrl: string;
  /** Links to the servers of a Redis cluster, shared by all processes; empty if Redis is one server. */
  clusterLinks: readonly FaultProxy[];
  modelsUrl: string;
  seed: string;
  env: Record<Role, Record<string, string>>;
  /**
   * The release that all processes run at first, with restricted roles. Without it they run this checkout, as the
   * owner.
   */
  release?: Release;
  signal: AbortSignal;
}

const ROLES = { gateway: GATEWAY_ROLE, worker: WORKER_ROLE } as const;
const WARN = 40;
const AGAIN_MS = 300;
/** Long, because processes start while stores and links fail. */
const READY_WITHIN_MS = 300_000;

export async function openFleet(options: CampaignFleetOptions): Promise<Fleet> {
  const { group, signal } = options;
  await using opened = new AsyncDisposableStack();
  const crashes: string[] = [];
  const warnings = new Map<string, number>();
  const startsMs: number[] = [];
  const started: ProcessStart[] = [];
  const logged: Found[] = [];
  const expected = new WeakSet<RunningApp>();
  /** Why the last start of a slot's process failed. */
  const failedStarts = new Map<string, string>();
  let over = false;

  const link = async (slot: string, to: string, url: string) => {
    const { hostname, port } = new URL(url);
    const name = `${slot}-${to}`;
    return opened.use(await openFaultProxy(name, { host: hostname, port: Number(port) }, `${options.seed}|${name}`));
  };
  const isShared = options.clusterLinks.length > 0;
  const slots = await Promise.all([
    ...Array.from({ length: options.gateways }, (_, i) => make('gateway', `g${i + 1}`)),
    ...Array.from({ length: options.workers + options.spares }, (_, i) =>
      make('worker', `w${i + 1}`, i >= options.workers),
    ),
  ]);

  async function make(role: Role, name: string, isSpare = false): Promise<Slot> {
    const links = {
      ...(!isShared && { redis: await link(name, 'redis', options.redisUrl) }),
      postgres: await link(name, 'postgres', options.databaseUrl),
      ...(options.standbyUrl && { standby: await link(name, 'standby', options.standbyUrl) }),
      ...(role === 'gateway' && options.replicaUrl && { replica: await link(name, 'replica', options.replicaUrl) }),
      ...(role === 'worker' && { models: await link(name, 'models', options.modelsUrl) }),
      // Refuse connections until the gateway listens.
      ...(role === 'gateway' && { callers: await link(name, 'callers', 'http://127.0.0.1:1') }),
    };
    return { name, role, links, app: null, isFaulted: false, isSpare, release: options.release ?? null };
  }

  function onEntry(line: LogLine): void {
    if (typeof line.level !== 'number' || line.level < WARN) return;
    const text = warningOf(line);
    warnings.set(text, (warnings.get(text) ?? 0) + 1);
  }

  async function fill(slot: Slot): Promise<void> {
    while (!over) {
      try {
        const began = performance.now();
        const onLine = (line: string): void => {
          for (const marker of markersIn(line))
            logged.push({ marker, place: `log of ${slot.name}: ${line.slice(0, 200)}` });
        };
        const { release } = slot;
        const module = release?.[slot.role] ?? `@eloquentpoll/${slot.role}/main`;
        const app = await startModule(group, slot.name, module, envOf(slot), onEntry, onLine);
        startsMs.push(performance.now() - began);
        const worker = app.ready.worker_id === undefined ? null : String(app.ready.worker_id);
        started.push({ slot: slot.name, release: release?.name ?? null, worker, at: Date.now() });
        if (slot.links.callers) slot.links.callers.target = { host: '127.0.0.1', port: Number(app.ready.port) };
        slot.app = app;
        void app.exited.then(({ code, signal }) => {
          slot.app = null;
          if (over) return;
          if (!expected.has(app)) {
            const how = `${slot.name} ended by itself (${signal ?? `code ${code}`})`;
            crashes.push([how, ...app.lastLines].join('\n    '));
          }
          void fill(slot);
        });
        return;
      } catch (error) {
        // Postgres or Redis may be down: a supervisor would retry.
        const reason = error instanceof Failure ? reasonIn(error.output) : String(error);
        failedStarts.set(slot.name, reason);
        const text = `${slot.role} did not start: ${reason}`.slice(0, 160);
        warnings.set(text, (warnings.get(text) ?? 0) + 1);
        await sleep(AGAIN_MS);
      }
    }
  }

  function databaseOf({ role, links: { postgres, standby } }: Slot): string {
    const owned = through(options.databaseUrl, postgres!);
    const url = options.release ? asRole(owned, ROLES[role]) : owned;
    const { host } = new URL(url);
    return standby ? url.replace(host, `${host},127.0.0.1:${standby.port}`) : url;
  }

  const envOf = (slot: Slot): Record<string, string> => ({
    ...options.env[slot.role],
    ...linksOf(slot),
    DATABASE_URL: databaseOf(slot),
    PORT: '0',
  });

  const linksOf = ({ links }: Slot): Record<string, string> => ({
    REDIS_URL: links.redis ? through(options.redisUrl, links.redis) : options.redisUrl,
    ...(links.replica && {
      DATABASE_REPLICA_URL: through(options.replicaUrl!, links.replica),
      DATABASE_REPLICA_MAX_LAG: String(REPLICA_LAG_S),
    }),
    MODELS_BASE_URL: links.models ? through(options.modelsUrl, links.models) : options.modelsUrl,
  });

  const complete: Fleet['complete'] = (until, withinMs = READY_WITHIN_MS) =>
    untilReady(slots, failedStarts, withinMs, until);
  const filled = Promise.all(slots.map(fill));
  opened.defer(async () => {
    over = true;
    await filled;
  });
  await complete(signal);
  const owned = opened.move();
  const links = [...slots.flatMap((slot) => Object.values(slot.links)), ...options.clusterLinks];
  return {
    slots,
    links,
    crashes,
    warnings,
    startsMs,
    started,
    logged,
    async end({ app }, how, withinMs = 30_000) {
      if (!app) throw new Error('the slot has no process');
      expected.add(app);
      app.signal(how);
      const late = setTimeout(() => app.signal('SIGKILL'), withinMs);
      const exit = await app.exited;
      clearTimeout(late);
      return exit;
    },
    complete,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function through(url: string, { port }: FaultProxy): string {
  const by = new URL(url);
  by.hostname = '127.0.0.1';
  by.port = String(port);
  return by.href.replace(/\/$/, '');
}

/** The last lines are a sentence, or an error with its stack. */
function reasonIn(lastLines: readonly string[]): string {
  const lines = lastLines.map((line) => line.trim());
  return lines.findLast((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1) ?? '';
}

/** The message and its error, without the parts that vary. */
function warningOf({ service, msg, err, code }: LogLine): string {
  const cause = typeof err === 'object' && err !== null && 'message' in err ? `: ${String(err.message)}` : '';
  return `${String(service ?? 'process')}: ${String(msg)}${code ? ` ${String(code)}` : ''}${cause}`
    .replace(/ps_\w+(\.\d+)?/g, 'POLL')
    .replace(/\d+/g, 'N')
    .slice(0, 140);
}
