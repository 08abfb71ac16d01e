import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '@eloquentpoll/launch/failure';
import type { Exit, ProcessGroup } from '@eloquentpoll/services/process-group';
import type { LogLine, RunningApp } from '@eloquentpoll/services/start-app';
import { startModule } from '../fixture/modules.ts';
import { type FaultProxy, openFaultProxy } from '../proxy/fault-proxy.ts';

// The processes of the product, each in a slot with links of its own to everything that it connects to. A process that
// ends is replaced in its slot, as a supervisor would; a crash is recorded.

export type Role = 'gateway' | 'worker';

export interface Slot {
  readonly name: string;
  readonly role: Role;
  /** To Redis, Postgres and the models, and from the callers of a gateway. */
  readonly links: Readonly<Record<string, FaultProxy>>;
  /** Null while it is being replaced. */
  app: RunningApp | null;
  /** A fault is being injected: not to be chosen again now. */
  isFaulted: boolean;
}

export interface Fleet extends AsyncDisposable {
  readonly slots: readonly Slot[];
  readonly links: readonly FaultProxy[];
  /** Processes that ended without a fault of ours. */
  readonly crashes: readonly string[];
  /** Warnings and errors of the processes, by their text. */
  readonly warnings: ReadonlyMap<string, number>;
  readonly startsMs: readonly number[];
  /** Ends the process of a slot and waits for it; the next one is being started then. */
  end(slot: Slot, signal: 'SIGKILL' | 'SIGTERM', withinMs?: number): Promise<Exit>;
  /** Resolves when every slot has a process that is ready. */
  complete(signal: AbortSignal): Promise<void>;
}

export interface CampaignFleetOptions {
  group: ProcessGroup;
  gateways: number;
  workers: number;
  databaseUrl: string;
  redisUrl: string;
  modelsUrl: string;
  seed: string;
  env: Record<Role, Record<string, string>>;
  signal: AbortSignal;
}

const WARN = 40;
const AGAIN_MS = 300;

export async function openFleet(options: CampaignFleetOptions): Promise<Fleet> {
  const { group, signal } = options;
  await using opened = new AsyncDisposableStack();
  const crashes: string[] = [];
  const warnings = new Map<string, number>();
  const startsMs: number[] = [];
  const expected = new WeakSet<RunningApp>();
  let over = false;

  const link = async (slot: string, to: string, url: string) => {
    const { hostname, port } = new URL(url);
    const name = `${slot}-${to}`;
    return opened.use(await openFaultProxy(name, { host: hostname, port: Number(port) }, `${options.seed}|${name}`));
  };
  const slots = await Promise.all([
    ...Array.from({ length: options.gateways }, (_, i) => make('gateway', `g${i + 1}`)),
    ...Array.from({ length: options.workers }, (_, i) => make('worker', `w${i + 1}`)),
  ]);

  async function make(role: Role, name: string): Promise<Slot> {
    const links = {
      redis: await link(name, 'redis', options.redisUrl),
      postgres: await link(name, 'postgres', options.databaseUrl),
      ...(role === 'worker' && { models: await link(name, 'models', options.modelsUrl) }),
      // Until the gateway listens, callers are reset.
      ...(role === 'gateway' && { callers: await link(name, 'callers', 'http://127.0.0.1:1') }),
    };
    return { name, role, links, app: null, isFaulted: false };
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
        const app = await startModule(group, slot.name, `@eloquentpoll/${slot.role}/main`, envOf(slot), onEntry);
        startsMs.push(performance.now() - began);
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
        // Postgres or Redis may be away: a supervisor tries again.
        const reason = error instanceof Failure ? reasonIn(error.output) : String(error);
        const text = `${slot.role} did not start: ${reason}`.slice(0, 160);
        warnings.set(text, (warnings.get(text) ?? 0) + 1);
        await sleep(AGAIN_MS);
      }
    }
  }

  const envOf = ({ role, links }: Slot): Record<string, string> => ({
    ...options.env[role],
    DATABASE_URL: through(options.databaseUrl, links.postgres!),
    REDIS_URL: through(options.redisUrl, links.redis!),
    MODELS_BASE_URL: links.models ? through(options.modelsUrl, links.models) : options.modelsUrl,
    PORT: '0',
  });

  opened.defer(() => {
    over = true;
  });
  await Promise.all(slots.map(fill));
  signal.throwIfAborted();
  const owned = opened.move();
  const links = slots.flatMap((slot) => Object.values(slot.links));
  return {
    slots,
    links,
    crashes,
    warnings,
    startsMs,
    async end({ app }, how, withinMs = 30_000) {
      if (!app) throw new Error('the slot has no process');
      expected.add(app);
      app.signal(how);
      const late = setTimeout(() => app.signal('SIGKILL'), withinMs);
      const exit = await app.exited;
      clearTimeout(late);
      return exit;
    },
    async complete(signal) {
      while (slots.some(({ app }) => app === null)) await sleep(50, undefined, { signal });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function through(url: string, { port }: FaultProxy): string {
  const by = new URL(url);
  by.hostname = '127.0.0.1';
  by.port = String(port);
  return by.href.replace(/\/$/, '');
}

/** The last lines are a sentence, or an error and its stack. */
function reasonIn(lastLines: readonly string[]): string {
  const lines = lastLines.map((line) => line.trim());
  return lines.findLast((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1) ?? '';
}

/** The text and its error without what is different every time. */
function warningOf({ service, msg, err, code }: LogLine): string {
  const cause = typeof err === 'object' && err !== null && 'message' in err ? `: ${String(err.message)}` : '';
  return `${String(service ?? 'process')}: ${String(msg)}${code ? ` ${String(code)}` : ''}${cause}`
    .replace(/ps_\w+(\.\d+)?/g, 'POLL')
    .replace(/\d+/g, 'N')
    .slice(0, 140);
}
