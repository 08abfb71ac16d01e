import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure, folderFailure } from '@eloquentpoll/launch/failure';
import { Redis as Client } from 'ioredis';
import { freePort } from './free-port.ts';
import type { ProcessGroup, RunningProcess } from './process-group.ts';
import { containerArguments, findRedis, type RedisProgram } from './redis-program.ts';
import { runProgram } from './run-program.ts';
import { serverFailure } from './server-failure.ts';
import { endStraysIn, processesIn } from './strays.ts';

// A real Redis on a free loopback port that never evicts and flushes its log every second. Settings arrive on standard
// input, so no process list shows the password.

export interface RedisServer {
  url: string;
  port: number;
  version: string;
  process: RunningProcess;
}

type RedisSettings = Readonly<Record<string, string | number>>;

export interface RedisOptions {
  group: ProcessGroup;
  password: string;
  durable: boolean;
  stage: number;
  /** Name of its process and folder if there are several servers; by default `redis`. */
  name?: string;
  /**
   * In addition to the settings that every Redis here has; a function is called again if a port was taken meanwhile.
   */
  settings?: RedisSettings | (() => Promise<RedisSettings>);
  /** The environment in which to look for a Redis. */
  env?: NodeJS.ProcessEnv;
  /** Time to end in an orderly way before it is killed. */
  grace_ms?: number;
  /** Where a fetched copy is kept. */
  tools?: string;
  /** Supplies another port if one was taken meanwhile. */
  ports?: () => Promise<number>;
}

const START_MS = 60_000;
const PORT_ATTEMPTS = 5;

export async function startRedis(options: RedisOptions): Promise<RedisServer> {
  const folder = join(options.group.folder, options.name ?? 'redis');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw folderFailure(error, folder) ?? error;
  }
  const program = await findRedis(options.env ?? process.env, options.tools);
  await endStraysIn(folder, 'redis', 'SIGTERM');
  if (processesIn(folder).length > 0)
    throw new Failure(`Another Redis works in ${folder} and cannot be ended from here: stop it and run it again.`);
  for (let attempt = 1; ; attempt++) {
    const port = await (options.ports ?? freePort)();
    const settings = typeof options.settings === 'function' ? await options.settings() : options.settings;
    const running = await run(program, folder, port, options, settings);
    if (await untilReady(port, options.password, running))
      return {
        url: `redis://:${options.password}@127.0.0.1:${port}`,
        port,
        version: program.version,
        process: running,
      };
    const portWasTaken = running.lastLines.some((line) =>
      /Address already in use|port is already allocated/.test(line),
    );
    if (!portWasTaken || attempt === PORT_ATTEMPTS) throw serverFailure('Redis', folder, running);
  }
}

async function run(
  program: RedisProgram,
  folder: string,
  port: number,
  options: RedisOptions,
  settings: RedisSettings = {},
): Promise<RunningProcess> {
  const { container } = program;
  const name = `eloquentpoll-redis-${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`;
  if (container) await runProgram('docker', ['rm', '-f', name], { env: program.env }, 10_000);
  return options.group.start({
    name: options.name ?? 'redis',
    file: program.file,
    args: container ? containerArguments(name, folder, port) : program.args,
    env: { LC_ALL: 'C', ...program.env },
    cwd: folder,
    stage: options.stage,
    grace_ms: options.grace_ms ?? 1_500,
    input: configuration({
      port: container ? 6379 : port,
      bind: container ? '* -::*' : '127.0.0.1',
      dir: JSON.stringify(container ? '/data' : folder),
      requirepass: options.password,
      appendonly: options.durable ? 'yes' : 'no',
      appendfsync: 'everysec',
      save: '""',
      'maxmemory-policy': 'noeviction',
      daemonize: 'no',
      logfile: '""',
      ...settings,
    }),
  });
}

function configuration(settings: Record<string, string | number>): string {
  return `${Object.entries(settings)
    .map(([name, value]) => `${name} ${value}`)
    .join('\n')}\n`;
}

async function untilReady(port: number, password: string, running: RunningProcess): Promise<boolean> {
  const until = performance.now() + START_MS;
  while (!running.hasEnded && performance.now() < until) {
    if ((await Promise.race([answers(port, password), running.ended])) === true) return true;
    await delay(20);
  }
  return false;
}

// A Redis that still loads its log answers LOADING; another server on our port rejects the password. Both mean "no".
async function answers(port: number, password: string): Promise<boolean> {
  const client = new Client({
    host: '127.0.0.1',
    port,
    password,
    lazyConnect: true,
    retryStrategy: null,
    connectTimeout: 2_000,
    commandTimeout: 2_000,
    enableReadyCheck: false,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.ping()) === 'PONG';
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}
