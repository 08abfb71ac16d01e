import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { testDatabase, testRedis } from '@eloquentpoll/testkit';
import type { Test } from 'tap';

// The gateway as a process of its own, as it is started in production.

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

export interface Run {
  child: ChildProcess;
  out: string[];
  err: string[];
  /** Resolves with the first line of stdout that matches. */
  line(pattern: RegExp): Promise<string>;
  ended: Promise<{ code: number | null; signal: string | null }>;
}

export function start(t: Test, env: Record<string, string>): Run {
  const child = spawn(process.execPath, [MAIN], { env: { PATH: process.env.PATH ?? '', ...env }, stdio: 'pipe' });
  t.teardown(() => child.kill('SIGKILL'));
  const out: string[] = [];
  const err: string[] = [];
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal })),
  );
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => err.push(chunk));
  const waiting: { pattern: RegExp; resolve: (line: string) => void }[] = [];
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      out.push(line);
      for (const { pattern, resolve } of waiting) if (pattern.test(line)) resolve(line);
    }
  });
  const line = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const seen = out.find((text) => pattern.test(text));
      if (seen) resolve(seen);
      waiting.push({ pattern, resolve });
      void ended.then(({ code }) => reject(new Error(`ended with ${code} before ${pattern}: ${err.join('')}`)));
    });
  return { child, out, err, line, ended };
}

export async function goodEnvironment(t: Test): Promise<Record<string, string>> {
  const redis = testRedis(t);
  return {
    PORT: '0',
    BASE_URL: 'http://localhost',
    DATABASE_URL: await testDatabase(t),
    REDIS_URL: redis.url,
    REDIS_PREFIX: redis.prefix,
    KEY_PEPPER: 'p'.repeat(32),
    MODELS_FILE: 'simulator',
  };
}
