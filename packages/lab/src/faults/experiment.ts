import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Household, household } from './processes.ts';
import { type Stores, throwAwayStores } from './throw-away.ts';

// What an experiment needs and what is gone again when it ends, in this order: processes, stores, folder.

export interface Bench {
  stores: Stores;
  home: Household;
  folder: string;
  /** Aborts when the user has had enough. */
  signal: AbortSignal;
}

export interface Servers {
  postgres: { url: string };
  redis: { url: string };
}

export async function onBench<T>(
  servers: Servers,
  signal: AbortSignal,
  experiment: (bench: Bench) => Promise<T>,
): Promise<T> {
  await using made = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'ep-lab-'));
  made.defer(() => rm(folder, { recursive: true, force: true }));
  const stores = made.use(await throwAwayStores(servers.postgres.url, servers.redis.url));
  const home = made.use(household());
  return await experiment({ stores, home, folder, signal });
}
