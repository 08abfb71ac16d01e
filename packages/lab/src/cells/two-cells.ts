import type { ProcessGroup } from '@eloquentpoll/services/process-group';
import { openThrowAwayGroup } from '@eloquentpoll/services/throw-away-group';
import { startThrowAwayServers } from '@eloquentpoll/services/throw-away-servers';
import { KEY_PEPPER } from '../fixture/accounts.ts';
import { startModule } from '../fixture/modules.ts';
import { NO_RATE_LIMITS } from '../fixture/no-rate-limits.ts';
import { startSimulator } from '../fixture/simulators.ts';
import { openStores, type Stores } from '../fixture/stores.ts';

// Two whole cells on one machine: each a Postgres, a Redis, a gateway and a worker. They share secrets and models.

export interface RunningCell {
  readonly name: '0' | '1';
  readonly stores: Stores;
  readonly port: number;
}

export interface TwoCells extends AsyncDisposable {
  readonly cells: readonly [RunningCell, RunningCell];
}

const GATEWAY = {
  BASE_URL: 'http://localhost:8080',
  PORT: '0',
  TRUST_PROXY: '127.0.0.1/32',
  STREAMS_PER_ACCOUNT: '1000000',
  RATE_LIMITS: NO_RATE_LIMITS,
};

export async function startTwoCells(group: ProcessGroup, seed: string): Promise<TwoCells> {
  await using made = new AsyncDisposableStack();
  const simulator = await startSimulator(group, { seed, latency_scale: 0.05 });
  const start = async (name: '0' | '1'): Promise<RunningCell> => {
    const own = made.use(await openThrowAwayGroup(`cell ${name}`, { inMemory: true }));
    const servers = made.use(await startThrowAwayServers(own, process.env));
    const stores = made.use(await openStores(servers));
    const apps = made.use(await openThrowAwayGroup(`the processes of cell ${name}`));
    const common = {
      DATABASE_URL: stores.databaseUrl,
      REDIS_URL: stores.redisUrl,
      REDIS_PREFIX: stores.redisPrefix,
      MODELS_FILE: 'simulator',
      MODELS_BASE_URL: simulator.modelsUrl,
      LOG_LEVEL: 'warn',
    };
    const [gateway] = await Promise.all([
      startModule(apps, 'gateway', '@eloquentpoll/gateway/main', { ...common, ...GATEWAY, KEY_PEPPER, CELL: name }),
      startModule(apps, 'worker', '@eloquentpoll/worker/main', { ...common, WORKER_CONCURRENCY: '50' }),
    ]);
    return { name, stores, port: Number(gateway.ready.port) };
  };
  const cells = [await start('0'), await start('1')] as const;
  const owned = made.move();
  return { cells, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
