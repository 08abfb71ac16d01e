import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { testDatabase, testRedis } from '@eloquentpoll/testkit';
import t, { type Test } from 'tap';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

interface Run {
  child: ChildProcess;
  out: string[];
  err: string[];
  /** Resolves with the first line of stdout that matches. */
  line(pattern: RegExp): Promise<string>;
  ended: Promise<{ code: number | null; signal: string | null }>;
}

function start(t: Test, env: Record<string, string>): Run {
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

async function goodEnvironment(t: Test): Promise<Record<string, string>> {
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

t.test('the process says when it is ready, answers, and leaves on SIGTERM', async (t) => {
  const run = start(t, await goodEnvironment(t));
  const ready = JSON.parse(await run.line(/"msg":"ready"/));
  const health = await fetch(`http://127.0.0.1:${ready.port}/api/health`);
  t.match(await health.json(), { status: 'ok', db: 'ok' });
  run.child.kill('SIGTERM');
  t.same(await run.ended, { code: 0, signal: null });
  t.equal(run.err.join(''), '', 'nothing on stderr');
  for (const line of run.out) t.type(JSON.parse(line), 'object');
});

t.test('[§I2-setting-named] what keeps it from starting is said with the name of the setting', async (t) => {
  const good = await goodEnvironment(t);
  const cases: [Record<string, string>, RegExp][] = [
    [{ PORT: 'eighty' }, /^gateway: PORT: must be a whole number/],
    [{ REDIS_URL: 'redis://127.0.0.1:1' }, /^gateway: REDIS_URL: \w/],
    [{ MODELS_FILE: '/nowhere/models.json' }, /^gateway: MODELS_FILE: .*\/nowhere\/models\.json/],
    [{ PORT: new URL(good.REDIS_URL!).port }, /^gateway: PORT: \d+ is in use/],
  ];
  const runs = cases.map(([env, says]) => ({ env, says, run: start(t, { ...good, ...env }) }));
  for (const { env, says, run } of runs) {
    t.equal((await run.ended).code, 1, JSON.stringify(env));
    t.match(run.err.join(''), says);
    t.notMatch(run.err.join(''), /\n\s+at /, 'no stack');
  }
});
