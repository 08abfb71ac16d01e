import { readdirSync } from 'node:fs';
import { loadPanels } from '@eloquentpoll/models/panels';
import type { ProcessGroup } from '@eloquentpoll/services/process-group';
import { openThrowAwayGroup } from '@eloquentpoll/services/throw-away-group';
import { createFundedAccount, insertApiKey, KEY_PEPPER } from '../fixture/accounts.ts';
import { type CollectedMemory, memoryCollector } from '../fixture/collected-memory.ts';
import { startModule } from '../fixture/modules.ts';
import { NO_RATE_LIMITS } from '../fixture/no-rate-limits.ts';
import { openStores, type Servers, type Stores } from '../fixture/stores.ts';

// What an attack is aimed at: one gateway in its own process, with its own stores, a funded account and a key. Its rate
// limits refuse nothing, unless an attack sets others.

export interface AttackTarget extends AsyncDisposable {
  readonly stores: Stores;
  readonly group: ProcessGroup;
  readonly port: number;
  readonly origin: string;
  readonly pid: number;
  readonly accountId: string;
  readonly key: string;
  readonly panels: ReturnType<typeof loadPanels>;
  /** Only with `COLLECTS_ON_SIGNAL` as its NODE_OPTIONS. */
  collectedMemory(): Promise<CollectedMemory>;
  /** A key of the same account that was revoked. */
  revokedKey(): Promise<string>;
  /** Environment of the gateway, for workers beside it. */
  readonly env: Readonly<Record<string, string>>;
}

export async function openAttackTarget(servers: Servers, more: Record<string, string> = {}): Promise<AttackTarget> {
  await using made = new AsyncDisposableStack();
  const stores = made.use(await openStores(servers));
  const group = made.use(await openThrowAwayGroup('an attack'));
  const accountId = await createFundedAccount(stores.storage);
  const { key } = await insertApiKey(stores.storage, accountId);
  const env = {
    DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
    REDIS_PREFIX: stores.redisPrefix,
    MODELS_FILE: 'simulator',
    KEY_PEPPER,
    BASE_URL: 'http://localhost:8080',
    PORT: '0',
    LOG_LEVEL: 'warn',
    STREAMS_PER_ACCOUNT: '1000000',
    RATE_LIMITS: NO_RATE_LIMITS,
    ...more,
  };
  const memory = memoryCollector();
  const gateway = await startModule(group, 'gateway', '@eloquentpoll/gateway/main', env, memory.isAnswer);
  const port = Number(gateway.ready.port);
  const origin = `http://127.0.0.1:${port}`;
  const owned = made.move();
  return {
    stores,
    group,
    port,
    origin,
    pid: gateway.pid,
    accountId,
    key,
    panels: loadPanels({ file: 'simulator' }),
    collectedMemory: () => memory.collect(gateway.pid),
    async revokedKey() {
      const { id, key: old } = await insertApiKey(stores.storage, accountId);
      const headers = { authorization: `Bearer ${key}` };
      const { status } = await fetch(`${origin}/api/keys/${id}`, { method: 'DELETE', headers });
      if (status >= 300) throw new Error(`revoking a key was answered ${status}`);
      return old;
    },
    env,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** What our manifests give a gateway: 512 MiB. */
export const GATEWAY_MEMORY_MB = 536;

export const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** Number of poll channels of this target that have a subscriber. */
export async function watchedPolls({ stores: { bus, redisPrefix } }: AttackTarget): Promise<number> {
  // Channels for cancellations and deletions, which every gateway subscribes to, have no poll id in their names.
  const channels = (await bus.redis.call('PUBSUB', 'CHANNELS', `*${redisPrefix}*ps_*`)) as unknown[];
  return channels.length;
}

export async function countRunningPolls({ stores }: Pick<AttackTarget, 'stores'>): Promise<number> {
  const [row] = await stores.query<{ n: number }>(`select count(*)::int as n from polls where status = 'running'`);
  return row?.n ?? 0;
}

/** Waits until the condition is true; returns false if it does not become true in time. */
export async function comesTrue(condition: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > until) return false;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return true;
}
