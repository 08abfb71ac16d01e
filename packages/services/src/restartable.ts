import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres } from './postgres.ts';
import type { ProcessGroup, RunningProcess } from './process-group.ts';
import { startRedis } from './redis.ts';
import { newSecret } from './secret.ts';
import { putOnSmallDisk } from './small-disk.ts';

// Servers for an experiment that kills them: as `npm start` runs them, writing to the disk, and back at the same address
// with their data. Postgres gets a small disk of its own where one can be mounted.

export interface RestartableServer {
  /** The same before and after a restart. */
  readonly url: string;
  /** Resolves when it is gone. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Resolves when it answers. `empty`: without its data. */
  start(how?: { empty: boolean }): Promise<void>;
}

export interface RestartableServers extends AsyncDisposable {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly postgres: RestartableServer;
  readonly redis: RestartableServer;
  /** Under Postgres; null where none could be mounted. */
  readonly disk: { fill(): Promise<void>; free(): Promise<void> } | null;
}

export async function startRestartable(group: ProcessGroup, env: NodeJS.ProcessEnv): Promise<RestartableServers> {
  const [postgresPassword, redisPassword] = [newSecret(), newSecret()];
  const [postgres, redis] = await Promise.all([
    restartable(group, 'postgres', (ports) =>
      startPostgres({ group, password: postgresPassword, durable: true, stage: 5, ...ports }),
    ),
    restartable(group, 'redis', (ports) =>
      startRedis({ group, password: redisPassword, durable: true, stage: 4, env, ...ports }),
    ),
  ]);
  await postgres.kill('SIGINT');
  const disk = await putOnSmallDisk(join(group.folder, 'postgres'));
  await postgres.start();
  return {
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    postgres,
    redis,
    disk: disk && {
      fill: disk.fill,
      async free() {
        disk.free();
        if (postgres.hasEnded()) await postgres.start();
      },
    },
    // Postgres keeps its files open until it has ended.
    [Symbol.asyncDispose]: async () => disk?.unmount(),
  };
}

type Start = (where: { ports?: () => Promise<number> }) => Promise<{ url: string; process: RunningProcess }>;

async function restartable(
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
      running = (await begin({ ports: async () => port })).process;
    },
  };
}
