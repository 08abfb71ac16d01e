import { setTimeout as sleep } from 'node:timers/promises';
import type { RestartablePooler } from '@eloquentpoll/services/restartable';
import type { Stores } from '../fixture/stores.ts';
import type { Slot } from './fleet.ts';

/** The most connections that stood for half a second: of the processes, and those that Postgres had of them. */
export interface PoolUse {
  clients: number;
  servers: number;
  /** Connections that the pooler may make. */
  size: number;
}

const LOOK_EVERY_MS = 100;
/** The pooler may be replaced during a look. */
const LOOKS = 5;

export interface PoolerWatch {
  end(): Promise<PoolUse>;
}

/** Clients are counted where they pass the network between process and pooler. */
export function watchPooler(
  { query }: Stores,
  slots: readonly Slot[],
  { size, startedAt }: RestartablePooler,
): PoolerWatch {
  const most: PoolUse = { clients: 0, servers: 0, size };
  const seen: number[] = [];
  let isOver = false;
  async function watch(): Promise<void> {
    while (!isOver) {
      await sleep(LOOK_EVERY_MS);
      const clients = slots.reduce((sum, { links }) => sum + links.postgres!.connections, 0);
      most.clients = Math.max(most.clients, clients);
      // Postgres may just be away.
      seen.push(await pooledConnections(query, startedAt()).catch(() => 0));
      if (seen.length >= LOOKS) most.servers = Math.max(most.servers, Math.min(...seen.slice(-LOOKS)));
    }
  }
  const watching = watch();
  return {
    async end() {
      isOver = true;
      await watching;
      return most;
    },
  };
}

/** Of the present process of the pooler. What the one before it left goes when Postgres notices, which a busy one does late. */
export async function pooledConnections(query: Stores['query'], startedAt: number): Promise<number> {
  const [row] = await query<{ servers: number }>(
    `select count(*)::integer as servers from pg_stat_activity
      where datname = current_database() and application_name like 'eloquentpoll-%' and backend_start >= to_timestamp($1)`,
    [startedAt / 1_000],
  );
  return row!.servers;
}
