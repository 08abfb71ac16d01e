import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadPanels, type Panels } from '@eloquentpoll/models/panels';
import type { ProcessGroup, RunningProcess } from '@eloquentpoll/services/process-group';
import { deleteKeys } from '@eloquentpoll/services/redis-keys';
import { openThrowAwayGroup } from '@eloquentpoll/services/throw-away-group';
import { createFundedAccount, insertApiKey, KEY_PEPPER } from '../fixture/accounts.ts';
import { startModule } from '../fixture/modules.ts';
import { NO_RATE_LIMITS } from '../fixture/no-rate-limits.ts';
import { cpuUs, familyCpuUs, parentOf } from '../fixture/process-cpu.ts';
import { openStores, type Stores } from '../fixture/stores.ts';
import { bringPeer } from './bring-peer.ts';

// Everything that a row needs, started on demand: separate stores, the product as shipped (bundles, if they were
// built), models that cost nothing, an account with unlimited money, and keys without limits.

/** The number of models in the performance targets. */
const MODELS = 7;

export interface Server {
  pid: number;
  port: number;
}

/** A process of the product that a row may kill. */
export interface ProcessUnderTest extends AsyncDisposable {
  readonly pid: number;
  /** Resolves when the process has ended. */
  kill(): Promise<void>;
}

export interface Bench extends AsyncDisposable {
  readonly stores: Stores;
  readonly panels: Panels;
  readonly accountId: string;
  /** Keys of this account. */
  readonly keys: readonly string[];
  /** One key for each of many other accounts. */
  readonly customers: readonly string[];
  /** Microseconds so far; NaN if they cannot be measured. */
  redisCpu(): number;
  postgresCpu(): number;
  models(): Promise<Server>;
  hello(): Promise<Server>;
  /** The results of the raw calls: `/c?ms=1000`, `/u7?n=40` or `/sets?ms=1000&at_once=32`. */
  calls(path: string): Promise<Record<string, number>>;
  /** The same calls through the gateway that we compare with. */
  peer(): Promise<Server & Pick<Bench, 'calls'>>;
  /** Starts a new one each time. `afterMs`: the time models take; `heapMb`: the heap limit. */
  gateway(options?: AppOptions): Promise<Server & ProcessUnderTest>;
  worker(options?: WorkerOptions): Promise<ProcessUnderTest>;
  /** Ends accepted polls that were never run, so that no later worker finds them. */
  forgetPolls(): Promise<void>;
  /** The command line of a process, for measuring its start. */
  command(app: 'gateway' | 'worker'): Promise<{ module: string; env: Record<string, string> }>;
}

interface AppOptions {
  afterMs?: number;
  heapMb?: number;
  /** In addition to the settings of every row. */
  settings?: Record<string, string>;
}

interface WorkerOptions extends AppOptions {
  concurrency?: number;
}

export interface BenchOptions {
  databaseUrl: string;
  redisUrl: string;
  /** Folder of the bundles; without it, the sources are run. */
  bundles: string | undefined;
  /** For gateways and workers; `--cpu-prof --cpu-prof-dir=DIR` profiles them. */
  nodeOptions?: string | undefined;
}

export async function openBench({ databaseUrl, redisUrl, bundles, nodeOptions }: BenchOptions): Promise<Bench> {
  await using made = new AsyncDisposableStack();
  const stores = made.use(await openStores({ databaseUrl, redisUrl }));
  const group = made.use(await openThrowAwayGroup('a bench'));
  const { folder } = group;
  const accountId = await createFundedAccount(stores.storage);
  const keyOf = async (account: string) => (await insertApiKey(stores.storage, account)).key;
  const keys = await Promise.all(Array.from({ length: 16 }, () => keyOf(accountId)));
  const customers = await Promise.all(
    Array.from({ length: 64 }, async () => keyOf(await createFundedAccount(stores.storage))),
  );
  const [redisPid, postgresPid] = await Promise.all([redisPidOf(stores), postgresPidOf(stores)]);
  const models = once(() => baseline(group, 'model-server'));
  const rosterFile = (afterMs: number) => makePanels(folder, models, afterMs);
  const panels = loadPanels({ file: await rosterFile(0) });
  const shared = { REDIS_URL: redisUrl, REDIS_PREFIX: stores.redisPrefix };
  const appEnv = async (afterMs: number, heapMb?: number): Promise<Record<string, string>> => ({
    ...shared,
    DATABASE_URL: stores.databaseUrl,
    MODELS_FILE: await rosterFile(afterMs),
    KEY_PEPPER,
    BASE_URL: 'http://localhost:8080',
    PORT: '0',
    STREAMS_PER_ACCOUNT: '1000000',
    RATE_LIMITS: NO_RATE_LIMITS,
    NODE_OPTIONS: [nodeOptions, heapMb && `--max-old-space-size=${heapMb}`].filter(Boolean).join(' '),
  });
  const moduleOf = (app: 'gateway' | 'worker') =>
    bundles === undefined ? `@eloquentpoll/${app}/main` : new URL(`file://${join(bundles, app, 'main.js')}`).href;
  const hello = once(() => baseline(group, 'hello', shared));
  const calls = once(async () => {
    const { port } = await models();
    return callsOf(await baseline(group, 'calls', { MODEL_SERVER: `http://127.0.0.1:${port}` }));
  });
  const peer = once(async () => {
    const server = await baseline(group, 'peer', { PEER_MODULE: await bringPeer(), NODE_ENV: 'production' });
    const { port } = await models();
    const through = await baseline(group, 'calls', {
      MODEL_SERVER: `http://127.0.0.1:${port}`,
      THROUGH: `http://127.0.0.1:${server.port}`,
      CALL_HEADERS: JSON.stringify({
        'x-portkey-provider': 'openai',
        'x-portkey-custom-host': `http://127.0.0.1:${port}/v1`,
      }),
    });
    return { ...server, calls: callsOf(through) };
  });

  const kept = made.move();
  return {
    stores,
    panels,
    accountId,
    keys,
    customers,
    redisCpu: () => cpuUs(redisPid),
    postgresCpu: () => familyCpuUs(postgresPid),
    models,
    hello,
    calls: async (path) => (await calls())(path),
    peer,
    async gateway({ afterMs = 0, heapMb, settings = {} } = {}) {
      const env = { ...(await appEnv(afterMs, heapMb)), ...settings };
      const service = await startModule(group, 'gateway', moduleOf('gateway'), env);
      return { ...underTest(service), port: Number(service.ready.port) };
    },
    async worker({ afterMs = 0, concurrency = 50, heapMb, settings = {} } = {}) {
      const env = { ...(await appEnv(afterMs, heapMb)), WORKER_CONCURRENCY: String(concurrency), ...settings };
      const service = await startModule(group, 'worker', moduleOf('worker'), env);
      return underTest(service);
    },
    forgetPolls: () => forgetPolls(stores),
    command: async (app) => ({ module: moduleOf(app), env: await appEnv(0) }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Workers that are shutting down may end the same polls; Postgres then aborts one side of a deadlock. */
const MAX_TRIES = 5;

async function forgetPolls({ bus, query, redisPrefix }: Stores): Promise<void> {
  const end = "update polls set status = 'failed', finished_at = now(), lease_owner = null where status = 'running'";
  for (let tries = 1; ; tries++) {
    try {
      await query(end);
      break;
    } catch (error) {
      if (!isDeadlock(error) || tries === MAX_TRIES) throw error;
    }
  }
  await deleteKeys(bus.redis, `{${redisPrefix}:*}:*`);
}

const isDeadlock = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === '40P01';

const underTest = (service: RunningProcess): ProcessUnderTest => ({
  pid: service.pid,
  async kill() {
    service.signal('SIGKILL');
    await service.exited;
  },
  [Symbol.asyncDispose]: () => leave(service),
});

async function leave(service: RunningProcess): Promise<void> {
  service.signal('SIGTERM');
  await service.exited;
}

async function baseline(group: ProcessGroup, name: string, env: Record<string, string> = {}): Promise<Server> {
  const { pid, ready } = await startModule(group, name, new URL(`baselines/${name}.ts`, import.meta.url).href, env);
  return { pid, port: Number(ready.port) };
}

const callsOf =
  ({ port }: Server): Bench['calls'] =>
  async (path) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    if (!answer.ok) throw new Error(`raw calls: ${await answer.text()}`);
    return (await answer.json()) as Record<string, number>;
  };

/** Seven models of seven families, all of one provider. */
async function makePanels(folder: string, models: () => Promise<Server>, afterMs: number): Promise<string> {
  const { port } = await models();
  const ids = Array.from({ length: MODELS }, (_, i) => `sim/model-${i + 1}`);
  const panel = { models: ids };
  const json = {
    providers: {
      bench: { base_url: `http://127.0.0.1:${port}/after/${afterMs}/v1`, trace_headers: true, connections: 512 },
    },
    models: ids.map((id) => ({
      id,
      provider: 'bench',
      family: id.slice(4),
      open_weight: true,
      price: { input: '1', output: '4' },
      answer: 'json_schema',
      max_output_tokens: 400,
      p50_ms: 100,
      p90_ms: 2_000,
      concurrency: 512,
    })),
    presets: { broad: panel, strong: panel, fast: panel, free: panel, free_search: panel },
  };
  const file = join(folder, `panels-${afterMs}.json`);
  await writeFile(file, JSON.stringify(json));
  return file;
}

async function redisPidOf({ bus }: Stores): Promise<number> {
  return Number(/^process_id:(\d+)/m.exec(await bus.redis.info('server'))?.[1] ?? 0);
}

async function postgresPidOf({ query }: Stores): Promise<number> {
  const [row] = await query<{ pid: number }>('select pg_backend_pid() as pid');
  return parentOf(row?.pid ?? 0) ?? 0;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
