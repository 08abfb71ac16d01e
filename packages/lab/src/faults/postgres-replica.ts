import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { queryOnce } from '@eloquentpoll/services/databases';
import { startPostgres } from '@eloquentpoll/services/postgres';
import type { ProcessGroup } from '@eloquentpoll/services/process-group';
import { type RestartableServer, restartable } from '@eloquentpoll/services/restartable';

// A streaming replica of Postgres, for the lists and exports of gateways. It is never promoted. A slot keeps the log for
// it while it is away, so that the small disk of the primary is not filled with more of it than needed.

export interface PostgresReplica {
  readonly server: RestartableServer;
  /** The database's URL on the replica. */
  urlOf(databaseUrl: string): string;
  /** Resolves when the replica has what is on the primary now; fails if that takes too long. */
  untilCaughtUp(databaseUrl: string): Promise<void>;
}

/** How old a list may be that a replica answers: the default of gateways. */
export const REPLICA_LAG_S = 5;

const SLOT = 'replica';
const CAUGHT_UP_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 100;

export async function openPostgresReplica(group: ProcessGroup, primaryUrl: string): Promise<PostgresReplica> {
  await queryOnce(primaryUrl, `select pg_create_physical_replication_slot('${SLOT}', true)`);
  const password = decodeURIComponent(new URL(primaryUrl).password);
  const standbyOf = { url: primaryUrl, folder: join(group.folder, 'postgres') };
  const server = await restartable(group, 'replica', (ports) =>
    startPostgres({
      ...{ group, password, standbyOf, durable: true, stage: 4, name: 'replica' },
      settings: { primary_slot_name: SLOT },
      ...ports,
    }),
  );
  const urlOf = (databaseUrl: string): string => {
    const url = new URL(databaseUrl);
    url.host = new URL(server.url).host;
    return url.href;
  };
  return {
    server,
    urlOf,
    async untilCaughtUp(databaseUrl) {
      const [end] = await queryOnce<{ lsn: string }>(databaseUrl, 'select pg_current_wal_lsn()::text as lsn');
      const has = `select pg_last_wal_replay_lsn() >= '${end!.lsn}' as has`;
      for (
        const until = performance.now() + CAUGHT_UP_WITHIN_MS;
        performance.now() < until;
        await sleep(LOOK_EVERY_MS)
      ) {
        const [row] = await queryOnce<{ has: boolean }>(urlOf(databaseUrl), has);
        if (row!.has) return;
      }
      throw new Error('the replica of Postgres does not catch up');
    },
  };
}
