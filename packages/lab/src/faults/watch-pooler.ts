import { setTimeout as sleep } from 'node:timers/promises';
import type { RestartablePooler } from '@eloquentpoll/services/restartable';
import type { Stores } from '../fixture/stores.ts';
import type { Slot } from './fleet.ts';

/**
 * The maximum number of connections that lasted half a second: from processes to the pooler, and from it to Postgres.
 */
export interface PoolUse {
  clients: number;
  servers: number;
  /** Connections that the pooler may open. */
  size: number;
}

const LOOK_EVERY_MS = 100;
/** Several looks, because the pooler may be replaced during one. */
const LOOKS = 5;

export interface PoolerWatch {
  end(): Promise<PoolUse>;
}

/** Client connections are counted on the links between processes and pooler. */
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
      // Postgres may be down at the moment.
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

/**
 * Counts connections of the current pooler process only. Postgres drops those of a killed pooler only when it notices,
 * which takes long on a busy server.
 */
export async function pooledConnections(query: Stores['query'], startedAt: number): Promise<number> {
  const [row] = await query<{ servers: number }>(
    `select count(*)::integer as servers from pg_stat_activity
      where datname = current_database() and application_name like 'eloquentpoll-%' and backend_start >= to_timestamp($1)`,
    [startedAt / 1_000],
  );
  return row!.servers;
}
