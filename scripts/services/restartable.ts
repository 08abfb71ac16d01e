import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { OwnServer, OwnServers } from '@eloquentpoll/lab/own-servers';
import type { Household, RunningProcess } from './household.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import { secret } from './secrets.ts';
import { putOnSmallDisk } from './small-disk.ts';

// Servers for an experiment that kills them: the ones that `npm start` runs, writing to the disk as there, and coming
// back at the same address with what they had stored. Postgres has a small disk of its own where one can be had.

export async function startRestartable(
  household: Household,
  env: NodeJS.ProcessEnv,
): Promise<OwnServers & AsyncDisposable> {
  const [postgresPassword, redisPassword] = [secret(), secret()];
  const [postgres, redis] = await Promise.all([
    restartable(household, 'postgres', (ports) =>
      startPostgres({ household, password: postgresPassword, durable: true, stage: 5, ...ports }),
    ),
    restartable(household, 'redis', (ports) =>
      startRedis({ household, password: redisPassword, durable: true, stage: 4, env, ...ports }),
    ),
  ]);
  await postgres.kill('SIGINT');
  const disk = await putOnSmallDisk(join(household.folder, 'postgres'));
  await postgres.start();
  return {
    postgres,
    redis,
    disk: disk && {
      fill: disk.fill,
      async free() {
        disk.free();
        if (postgres.hasEnded()) await postgres.start();
      },
    },
    // Postgres keeps what it works on until it has ended.
    [Symbol.asyncDispose]: async () => disk?.unmount(),
  };
}

interface Restartable extends OwnServer {
  kill(signal: NodeJS.Signals): Promise<void>;
  hasEnded(): boolean;
}

type Start = (where: { ports?: () => Promise<number> }) => Promise<{ url: string; process: RunningProcess }>;

async function restartable({ folder }: Household, name: string, begin: Start): Promise<Restartable> {
  const first = await begin({});
  const port = Number(new URL(first.url).port);
  let running = first.process;
  return {
    url: first.url,
    hasEnded: () => running.hasEnded,
    async kill(signal) {
      if (!running.hasEnded) process.kill(running.pid, signal);
      await running.ended;
    },
    async start({ empty } = { empty: false }) {
      if (empty) rmSync(join(folder, name, 'appendonlydir'), { recursive: true, force: true });
      running = (await begin({ ports: async () => port })).process;
    },
  };
}
