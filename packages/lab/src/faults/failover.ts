import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KEPT_LOG } from '@eloquentpoll/services/copy-postgres';
import { queryOnce } from '@eloquentpoll/services/databases';
import { startPostgres } from '@eloquentpoll/services/postgres';
import type { ProcessGroup } from '@eloquentpoll/services/process-group';
import type { RestartableServers } from '@eloquentpoll/services/restartable';
import { openFaultProxy } from '../proxy/fault-proxy.ts';

// A standby beside the primary, and what an operator does if the primary is lost: promote the standby. Processes know
// both addresses; the experiment itself is always connected to the current primary.

export interface Failover extends AsyncDisposable {
  /** URL of the current primary for the experiment, before and after the failover. */
  readonly databaseUrl: string;
  /** The database's URL on each server: the first primary, then its standby. */
  addressesOf(databaseUrl: string): readonly [string, string];
  /** Kills the primary and promotes the standby. Resolves to the time of the kill. */
  failOver(): Promise<number>;
  /** Restarts the old primary on its own, as a server that accepts writes. */
  reviveOld(): Promise<void>;
}

/** Whether a commit waits for the standby, or the standby lags behind. */
export type Commits = 'synchronous' | 'asynchronous';

const FOLLOWS_WITHIN_MS = 30_000;
const HELD_UP_MS = 1_500;

export async function openFailover(
  group: ProcessGroup,
  { postgres, databaseUrl }: RestartableServers,
  commits: Commits,
): Promise<Failover> {
  const primary = new URL(databaseUrl);
  await set(databaseUrl, Object.entries(KEPT_LOG)[0]!);
  const standby = await startPostgres({
    group,
    password: decodeURIComponent(primary.password),
    durable: true,
    stage: 5,
    name: 'standby',
    standbyOf: { url: databaseUrl, folder: join(group.folder, 'postgres') },
    settings: KEPT_LOG,
  });
  if (commits === 'synchronous') await set(databaseUrl, ['synchronous_standby_names', '*']);
  await untilFollowed(databaseUrl, commits);
  const lead = await openFaultProxy('experiment-postgres', { host: '127.0.0.1', port: Number(primary.port) });
  const at = (url: string, port: number | string): string => {
    const other = new URL(url);
    other.port = String(port);
    return other.href;
  };
  return {
    databaseUrl: at(databaseUrl, lead.port),
    addressesOf: (url) => [at(url, primary.port), at(url, new URL(standby.url).port)],
    async failOver() {
      const lagging = commits === 'asynchronous' ? await holdUp(standby.url) : null;
      const killedAt = Date.now();
      await postgres.kill('SIGKILL');
      lagging?.end();
      await queryOnce(standby.url, 'select pg_promote()');
      lead.target = { host: '127.0.0.1', port: Number(new URL(standby.url).port) };
      lead.reset();
      return killedAt;
    },
    reviveOld: () => postgres.start(),
    [Symbol.asyncDispose]: () => lead[Symbol.asyncDispose](),
  };
}

async function set(url: string, [name, value]: readonly [string, string]): Promise<void> {
  await queryOnce(url, `alter system set ${name} = '${value}'`);
  await queryOnce(url, 'select pg_reload_conf()');
}

async function untilFollowed(url: string, commits: Commits): Promise<void> {
  const until = performance.now() + FOLLOWS_WITHIN_MS;
  const state = commits === 'synchronous' ? 'sync' : 'async';
  while (performance.now() < until) {
    const rows = await queryOnce(
      url,
      `select from pg_stat_replication where state = 'streaming' and sync_state = '${state}'`,
    );
    if (rows.length > 0) return;
    await sleep(50);
  }
  throw new Error('the standby does not follow the primary');
}

/** Stops the process that receives the log, like a slow network; commits made meanwhile are on one server only. */
async function holdUp(standbyUrl: string): Promise<{ end(): void }> {
  const [receiver] = await queryOnce<{ pid: number }>(standbyUrl, 'select pid from pg_stat_wal_receiver');
  if (!receiver) throw new Error('the standby receives nothing');
  process.kill(receiver.pid, 'SIGSTOP');
  await sleep(HELD_UP_MS);
  return {
    // It is terminated before it can read the data that has arrived.
    end() {
      for (const signal of ['SIGTERM', 'SIGCONT'] as const) process.kill(receiver.pid, signal);
    },
  };
}
