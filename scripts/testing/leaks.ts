import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestServices } from './test-services.ts';

// What a finished run must not leave: databases of tests, keys, processes. Each finding is one sentence and a failure.

const SETTLE_MS = 3_000;

export async function findLeaks(services: TestServices | null, runId: string): Promise<string[]> {
  const processes = await lastingProcesses(runId);
  const left = processes.map(({ pid, command }) => `process ${pid} was left: ${command}`);
  return services === null ? left : [...left, ...(await leftIn(services))];
}

async function leftIn(services: TestServices): Promise<string[]> {
  const { ask } = await import('./test-services.ts');
  const databases = await ask<{ datname: string }>(
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
  const redis = new Redis(url, { retryStrategy: null });
  redis.on('error', () => {});
  try {
    const found = new Set<string>();
    let cursor = '0';
    do {
      const [next, keys] = await redis.scan(cursor, 'COUNT', 1_000);
      for (const key of keys) found.add(key);
      cursor = next;
    } while (cursor !== '0' && found.size < 100);
    return [...found];
  } finally {
    redis.disconnect();
  }
}

// A process that is just ending gets a moment; what still lives then is ended here and reported.
async function lastingProcesses(runId: string): Promise<{ pid: number; command: string }[]> {
  const until = performance.now() + SETTLE_MS;
  let left = processesOf(runId);
  while (left.length > 0 && performance.now() < until) {
    await delay(50);
    left = processesOf(runId);
  }
  for (const { pid } of left) process.kill(pid, 'SIGKILL');
  return left;
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
