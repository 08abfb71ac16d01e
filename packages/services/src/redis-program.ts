import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Failure } from '@eloquentpoll/launch/failure';
import { toolsFolder } from '@eloquentpoll/launch/folders';
import { fetchWithApt } from './from-apt.ts';
import { runProgram } from './run-program.ts';

// Finds a Redis to run: one on the PATH, the copy of an earlier start, one fetched from the system's own package
// archive without installing it, or a container engine. Valkey is as good.

export interface RedisProgram {
  version: string;
  file: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  container: boolean;
}

const OLDEST = [6, 2];
const PACKAGES = [
  ['redis-server', 'redis-tools'],
  ['valkey-server', 'valkey-tools'],
];
const IMAGE = 'valkey/valkey:8.1-alpine';

export async function findRedis(env: NodeJS.ProcessEnv, tools: string = toolsFolder): Promise<RedisProgram> {
  const kept = join(tools, 'redis');
  return (
    (await onPath(env)) ??
    (await keptCopy(kept)) ??
    ((await fetchWithApt(kept, PACKAGES, env)) ? await keptCopy(kept) : null) ??
    (await inContainer(env)) ??
    refuse()
  );
}

async function onPath(env: NodeJS.ProcessEnv): Promise<RedisProgram | null> {
  for (const folder of (env.PATH ?? '').split(delimiter).filter(Boolean))
    for (const name of ['redis-server', 'valkey-server']) {
      const program = await usable(join(folder, name), { PATH: env.PATH });
      if (program) return program;
    }
  return null;
}

async function keptCopy(folder: string): Promise<RedisProgram | null> {
  const libraries = ['usr/lib', 'lib'].flatMap((lib) =>
    [`${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`, ''].map((triplet) => join(folder, lib, triplet)),
  );
  const env = { LD_LIBRARY_PATH: libraries.join(':') };
  return (
    (await usable(join(folder, 'usr/bin/redis-server'), env)) ?? usable(join(folder, 'usr/bin/valkey-server'), env)
  );
}

async function usable(file: string, env: NodeJS.ProcessEnv): Promise<RedisProgram | null> {
  if (!existsSync(file)) return null;
  const { output } = await runProgram(file, ['--version'], { env }, 10_000);
  const version = /v=(\d+)\.(\d+)(\.\d+)?/.exec(output);
  if (!version || !recentEnough(Number(version[1]), Number(version[2]))) return null;
  return { version: version[0].slice(2), file, args: ['-'], env, container: false };
}

export function recentEnough(major: number, minor: number): boolean {
  return major > OLDEST[0]! || (major === OLDEST[0] && minor >= OLDEST[1]!);
}

async function inContainer(env: NodeJS.ProcessEnv): Promise<RedisProgram | null> {
  const engine = await runProgram('docker', ['version', '--format', '{{.Server.Version}}'], { env }, 10_000);
  if (!engine.ok) return null;
  return { version: `in a container, ${IMAGE}`, file: 'docker', args: [], env, container: true };
}

/** What `docker` is asked to run for a container program. */
export function containerArguments(name: string, folder: string, port: number): string[] {
  const owner = process.getuid ? ['--user', `${process.getuid()}:${process.getgid?.() ?? 0}`] : [];
  const mounts = ['-p', `127.0.0.1:${port}:6379`, '-v', `${folder}:/data`];
  return ['run', '--rm', '-i', '--name', name, ...owner, ...mounts, IMAGE, 'valkey-server', '-'];
}

function refuse(): never {
  throw new Failure(
    'There is no Redis here and none could be fetched: install redis-server or valkey-server 6.2 or newer, or set REDIS_URL.',
  );
}
