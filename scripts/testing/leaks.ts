import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { ThrowAwayServers } from '@eloquentpoll/services/throw-away-servers';

// What a finished run must not leave behind: test databases, keys, processes. Each finding is one sentence and a
// failure.

const SETTLE_MS = 3_000;
/** For processes that end their own servers first. */
const END_MS = 10_000;

export async function findLeaks(services: ThrowAwayServers | null, runId: string): Promise<string[]> {
  const processes = await lastingProcesses(runId);
  const left = processes.map(({ pid, command }) => `process ${pid} was left: ${command}`);
  return services === null ? left : [...left, ...(await leftIn(services))];
}

/** Ends what the tests of an interrupted run have started, also in process groups of their own. */
export async function endProcesses(runId: string): Promise<void> {
  for (const { pid } of processesOf(runId)) signal(pid, 'SIGTERM');
  await lastingProcesses(runId, END_MS);
}

async function leftIn(services: ThrowAwayServers): Promise<string[]> {
  const { queryOnce } = await import('@eloquentpoll/services/databases');
  const databases = await queryOnce<{ datname: string }>(
    services.databaseUrl,
    String.raw`select datname from pg_database where datname like 't\_%'`,
  );
  const keys = await keysIn(services.redisUrl);
  return [
    ...databases.map(({ datname }) => `the database ${datname} was left`),
    ...(keys.length > 0
      ? [`${keys.length} or more keys were left in Redis, such as ${keys.slice(0, 3).join(', ')}`]
      : []),
  ];
}

async function keysIn(url: string): Promise<string[]> {
  const { Redis } = await import('ioredis');
  const { scanKeys } = await import('@eloquentpoll/services/redis-keys');
  const redis = new Redis(url, { retryStrategy: null });
  redis.on('error', () => {});
  try {
    const found = new Set<string>();
    for await (const keys of scanKeys(redis)) {
      for (const key of keys) found.add(key);
      if (found.size >= 100) break;
    }
    return [...found];
  } finally {
    redis.disconnect();
  }
}

// A process that is about to end gets a moment; any that is still alive then is killed and reported.
async function lastingProcesses(runId: string, settleMs = SETTLE_MS): Promise<{ pid: number; command: string }[]> {
  const until = performance.now() + settleMs;
  let left = processesOf(runId);
  while (left.length > 0 && performance.now() < until) {
    await delay(50);
    left = processesOf(runId);
  }
  for (const { pid } of left) signal(pid, 'SIGKILL');
  return left;
}

function signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended by itself.
  }
}

function processesOf(runId: string): { pid: number; command: string }[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && read(pid, 'environ').includes(`TEST_RUN=${runId}\0`))
    .map((pid) => ({ pid, command: read(pid, 'cmdline').replaceAll('\0', ' ').slice(0, 200) }))
    .filter(({ command }) => command !== '');
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
