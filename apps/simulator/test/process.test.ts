import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { appProgram } from '@eloquentpoll/services/app-program';
import { bareEnvironment } from '@eloquentpoll/services/bare-environment';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { vote } from './start.ts';

// slow: 3 s

// The process says where it listens, ends in order, and refuses wrong settings in one line that names them.

const main = appProgram('simulator');

interface Line {
  msg: string;
  url?: string;
  error?: string;
}

/** Starts the process; `line` answers its next log line. */
function run(t: { teardown: (end: () => void) => void }, env: Record<string, string>) {
  const child = spawn(process.execPath, [main], {
    env: { ...bareEnvironment(main), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  return { child, ended, line: async () => JSON.parse((await lines.next()).value ?? '{}') as Line };
}

t.test('it prints where it listens, on loopback, and drains on SIGTERM', async (t) => {
  const { child, ended, line } = run(t, { PORT: '0', LATENCY_SCALE: '0', SIMULATOR_SEED: 'x' });
  const { msg, url } = await line();
  t.equal(msg, 'ready');
  t.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
  const late = { steps: [{ kind: 'late', delay_ms: 2_000 }] };
  const json = { 'content-type': 'application/json' };
  const post = (path: string, body: object) =>
    fetch(`${url}${path}`, { method: 'POST', headers: json, body: JSON.stringify(body) });
  await post('/_control/models/sim/oak-1', late);
  const answer = post('/v1/chat/completions', vote('sim/oak-1'));
  const inFlight = async () => {
    const { in_flight } = (await (await fetch(`${url}/_control/calls`)).json()) as { in_flight: number };
    return in_flight === 1;
  };
  await eventually('a call is in flight', inFlight);
  child.kill('SIGTERM');
  t.equal((await answer).status, 200, 'the call in flight is answered');
  t.equal(await ended, 0);
});

t.test('wrong settings end in one line that names them', async (t) => {
  for (const [env, message] of [
    [{ PORT: '99999' }, /^PORT must be/],
    [{ LATENCY_SCALE: 'fast' }, /^LATENCY_SCALE must be/],
    [{ SIMULATOR_CONFIG: '/nowhere.json' }, /^SIMULATOR_CONFIG: \/nowhere\.json/],
  ] as const) {
    const { ended, line } = run(t, env);
    t.match(await line(), { msg: 'failed to start', error: message });
    t.equal(await ended, 1);
  }
});

t.test('a configuration file sets the world, and its mistakes are named', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'simulator-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const config = (value: object) => {
    const path = join(folder, `${randomUUID()}.json`);
    writeFileSync(path, JSON.stringify(value));
    return path;
  };
  const good = run(t, { SIMULATOR_CONFIG: config({ latency_scale: 0, models: { 'vendor/*': { voter: 'first' } } }) });
  const { url } = await good.line();
  t.match(await (await fetch(`${url}/_control/models/vendor/x`)).json(), { voter: 'first' });
  t.match(await (await fetch(`${url}/_control/settings`)).json(), { latency_scale: 0 });
  good.child.kill('SIGTERM');
  t.equal(await good.ended, 0);
  const bad = run(t, { SIMULATOR_CONFIG: config({ models: { 'sim/*': { agreement: 7 } } }) });
  t.match(await bad.line(), { error: /^SIMULATOR_CONFIG: .*\/models\/sim~1\*\/agreement/ });
  t.equal(await bad.ended, 1);
});
