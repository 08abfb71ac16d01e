import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { samePort } from './free-port.ts';
import { startPgbouncer } from './pgbouncer.ts';
import { startPostgres } from './postgres.ts';
import type { ProcessGroup, RunningProcess } from './process-group.ts';
import { startRedis } from './redis.ts';
import { type ClusterOptions, type RedisCluster, startRedisCluster } from './redis-cluster.ts';
import { newSecret } from './secret.ts';
import { putOnSmallDisk } from './small-disk.ts';

// Servers for experiments that kill them: like those of `npm start`, they write to the disk and come back at the same
// address with their data. Postgres gets its own small disk if one can be mounted.

export interface RestartableServer {
  /** The same before and after a restart. */
  readonly url: string;
  /** Resolves when the server has ended. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Resolves when the server answers. `empty`: without its data. */
  start(how?: { empty: boolean }): Promise<void>;
}

export interface RestartablePooler extends RestartableServer {
  /** The URL of the same database, through the pooler. */
  through(url: string): string;
  /** How many connections to Postgres the pooler makes for a database and role. */
  readonly size: number;
  /** When its present process was started: anything that began earlier belongs to the previous process. */
  startedAt(): number;
}

export interface RestartableServers extends AsyncDisposable {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly postgres: RestartableServer;
  /** A pooler in front of Postgres; started on the first call. */
  pooler(): Promise<RestartablePooler>;
  /** Null if there is a cluster instead. */
  readonly redis: RestartableServer | null;
  readonly cluster: RedisCluster | null;
  /** The disk under Postgres; null if none could be mounted. */
  readonly disk: { fill(): Promise<void>; free(): Promise<void> } | null;
}

export async function startRestartable(
  group: ProcessGroup,
  env: NodeJS.ProcessEnv,
  clusterOf: Pick<ClusterOptions, 'front'> | null = null,
): Promise<RestartableServers> {
  const [postgresPassword, redisPassword] = [newSecret(), newSecret()];
  const ofRedis = { group, password: redisPassword, durable: true, stage: 4, env };
  const [postgres, redis, cluster] = await Promise.all([
    restartable(group, 'postgres', (ports) =>
      startPostgres({ group, password: postgresPassword, durable: true, stage: 5, ...ports }),
    ),
    clusterOf ? null : restartable(group, 'redis', (ports) => startRedis({ ...ofRedis, ...ports })),
    clusterOf && startRedisCluster({ ...ofRedis, ...clusterOf }),
  ]);
  await postgres.kill('SIGINT');
  await using made = new AsyncDisposableStack();
  const disk = await putOnSmallDisk(join(group.folder, 'postgres'));
  // Last of all: Postgres keeps its files open until it has ended.
  made.defer(async () => disk?.unmount());
  await postgres.start();
  let pooler: Promise<RestartablePooler> | undefined;
  const mounted = made.move();
  return {
    databaseUrl: postgres.url,
    redisUrl: (redis ?? cluster)!.url,
    postgres,
    redis,
    pooler: () => (pooler ??= restartablePooler(group, postgres.url, env)),
    cluster,
    disk: disk && {
      fill: disk.fill,
      async free() {
        disk.free();
        if (postgres.hasEnded()) await postgres.start();
      },
    },
    [Symbol.asyncDispose]: () => mounted.disposeAsync(),
  };
}

const POOL_SIZE = 10;

async function restartablePooler(
  group: ProcessGroup,
  serverUrl: string,
  env: NodeJS.ProcessEnv,
): Promise<RestartablePooler> {
  const roles = [new URL(serverUrl).username];
  let startedAt = 0;
  const server = await restartable(group, 'pgbouncer', async (ports) => {
    startedAt = Date.now();
    const started = await startPgbouncer({ group, serverUrl, roles, poolSize: POOL_SIZE, stage: 4, env, ...ports });
    return { url: started.through(serverUrl), process: started.process };
  });
  const through = (url: string): string => {
    const pooled = new URL(url);
    pooled.host = new URL(server.url).host;
    return pooled.href;
  };
  return { ...server, size: POOL_SIZE, startedAt: () => startedAt, through };
}

type Start = (where: { ports?: () => Promise<number> }) => Promise<{ url: string; process: RunningProcess }>;

/** A server that comes back at its address. */
export async function restartable(
  { folder }: ProcessGroup,
  name: string,
  begin: Start,
): Promise<RestartableServer & { hasEnded(): boolean }> {
  const first = await begin({});
  const port = Number(new URL(first.url).port);
  let running = first.process;
  return {
    url: first.url,
    hasEnded: () => running.hasEnded,
    async kill(signal) {
      running.signal(signal);
      await running.exited;
    },
    async start({ empty } = { empty: false }) {
      if (empty) rmSync(join(folder, name, 'appendonlydir'), { recursive: true, force: true });
      running = (await begin({ ports: () => samePort(port) })).process;
    },
  };
}
