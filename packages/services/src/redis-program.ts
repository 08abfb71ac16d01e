import { join } from 'node:path';
import { Failure } from '@eloquentpoll/launch/failure';
import { toolsFolder } from '@eloquentpoll/launch/folders';
import { fetchWithApt } from './from-apt.ts';
import { installedProgram, type Program, unpackedProgram } from './program.ts';
import { runProgram } from './run-program.ts';

// Finds a Redis to run: an installed one, the copy of an earlier start, one fetched from the system's package archive,
// or a container engine. Valkey works as well.

export interface RedisProgram extends Program {
  container: boolean;
}

const OLDEST = [6, 2];
const PACKAGES = [
  ['redis-server', 'redis-tools'],
  ['valkey-server', 'valkey-tools'],
];
const IMAGE = 'valkey/valkey:8.1-alpine';

const REDIS = {
  names: ['redis-server', 'valkey-server'],
  versionFlag: '--version',
  readVersion(output: string): string | null {
    const [, version, major, minor] = /v=((\d+)\.(\d+)(?:\.\d+)?)/.exec(output) ?? [];
    return version && recentEnough(Number(major), Number(minor)) ? version : null;
  },
};

export async function findRedis(env: NodeJS.ProcessEnv, tools: string = toolsFolder): Promise<RedisProgram> {
  const kept = join(tools, 'redis');
  const program =
    (await installedProgram(REDIS, env)) ??
    (await unpackedProgram(REDIS, kept)) ??
    ((await fetchWithApt(kept, PACKAGES, env)) ? await unpackedProgram(REDIS, kept) : null);
  // Its settings arrive on standard input.
  if (program) return { ...program, args: [...program.args, '-'], container: false };
  return (await inContainer(env)) ?? refuse();
}

export function recentEnough(major: number, minor: number): boolean {
  return major > OLDEST[0]! || (major === OLDEST[0] && minor >= OLDEST[1]!);
}

async function inContainer(env: NodeJS.ProcessEnv): Promise<RedisProgram | null> {
  const engine = await runProgram('docker', ['version', '--format', '{{.Server.Version}}'], { env }, 10_000);
  if (!engine.ok) return null;
  return { version: `in a container, ${IMAGE}`, file: 'docker', args: [], env, container: true };
}

/** The arguments with which `docker` runs the container. */
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
