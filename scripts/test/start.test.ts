import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { processIdentity } from '@eloquentpoll/launch/process-identity';
import { freePort } from '@eloquentpoll/services/free-port';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t, { type Test } from 'tap';
import { type Fixture, leftIn, runFixture, temporaryFolder } from './fixtures/run-fixture.ts';

// slow: 19 s

// `npm start` from outside: real services, stand-ins for the apps, signals and deaths.

async function startIn(t: Test, folder: string, env: NodeJS.ProcessEnv = {}): Promise<Fixture> {
  const PORT = env.PORT ?? `${await freePort()}`;
  return runFixture(t, 'start-with-stand-ins.ts', { env: { START_FOLDER: folder, ...env, PORT } });
}

const alive = (pids: Record<string, number>) => Object.values(pids).filter((pid) => processIdentity(pid));

async function everythingEnded(folder: string, pids: Record<string, number>): Promise<void> {
  await eventually('every process has ended', () => alive(pids).length === 0 && leftIn(folder).length === 0);
}

t.test('ready, ended by a signal, and the next start has the same account and key', async (t) => {
  const folder = temporaryFolder(t);
  const first = await startIn(t, folder);
  const ready = await first.ready;
  t.match(ready, { api_key: /^ep_k_\w{38}$/, balance_cents: 2500 });
  t.equal(await (await fetch(ready.url)).text(), 'stand-in');
  t.same(Object.keys(ready.processes).sort(), ['gateway', 'id-provider', 'postgres', 'redis', 'simulator', 'worker']);
  first.child.kill('SIGINT');
  t.equal((await first.ended).code, 0);
  t.same(alive(ready.processes), []);

  const second = await startIn(t, folder);
  const again = await second.ready;
  t.equal(again.api_key, ready.api_key);
  t.equal(again.account_id, ready.account_id);
  t.equal(again.balance_cents, 2500, 'the gift is given once');
  second.child.kill('SIGTERM');
  t.equal((await second.ended).code, 0);
  t.same(leftIn(folder), []);
});

t.test('an account of simulated models and its play money are not there when real models are asked', async (t) => {
  const folder = temporaryFolder(t);
  const simulated = await startIn(t, folder);
  const before = await simulated.ready;
  simulated.child.kill('SIGTERM');
  await simulated.ended;

  const real = await startIn(t, folder, { OPENROUTER_API_KEY: 'an-unknown-key' });
  const after = await real.ready;
  t.notOk('simulator' in after.processes);
  t.not(after.account_id, before.account_id);
  t.not(after.api_key, before.api_key);
  real.child.kill('SIGTERM');
  t.equal((await real.ended).code, 0);
});

t.test('the death of one ends the others and is reported', async (t) => {
  for (const name of ['gateway', 'redis'] as const) {
    const folder = temporaryFolder(t);
    const fixture = await startIn(t, folder);
    const { processes } = await fixture.ready;
    process.kill(processes[name], 'SIGKILL');
    const { code, output } = await fixture.ended;
    t.equal(code, 1);
    t.match(output, new RegExp(`The ${name} was ended by SIGKILL; everything else is being ended`));
    t.same(alive(processes), []);
  }
});

t.test('killed without a chance to tidy up, it still takes everything along', async (t) => {
  const folder = temporaryFolder(t);
  const fixture = await startIn(t, folder);
  const { processes } = await fixture.ready;
  fixture.child.kill('SIGKILL');
  await everythingEnded(folder, processes);
  t.ok(existsSync(join(folder, 'start.lock')), 'its lock is left behind');
  const next = await startIn(t, folder);
  await next.ready;
  next.child.kill('SIGINT');
  t.equal((await next.ended).code, 0, 'and does not hinder the next start');
});

t.test('apps that do not listen are killed in time, and sooner on a second request', async (t) => {
  const folder = temporaryFolder(t);
  const fixture = await startIn(t, folder, { STAND_IN: 'deaf' });
  const { processes } = await fixture.ready;
  const began = performance.now();
  fixture.child.kill('SIGINT');
  await eventually('the first request was heard', () => performance.now() - began > 800);
  fixture.child.kill('SIGINT');
  const { code, output } = await fixture.ended;
  t.equal(code, 0);
  t.ok(performance.now() - began < 10_000, 'within 10 s');
  t.match(output, /had to kill: gateway, worker, simulator/);
  t.same(alive(processes), []);
});

t.test('what stands in the way is one sentence, and nothing is left', async (t) => {
  const folder = temporaryFolder(t);
  const stranger = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => stranger.once('listening', resolve));
  t.teardown(() => stranger.close());
  const address = stranger.address();
  const PORT = `${typeof address === 'object' ? address?.port : 0}`;
  const busy = await (await startIn(t, folder, { PORT })).ended;
  t.equal(busy.code, 1);
  t.match(busy.output, new RegExp(`PORT ${PORT} is in use by another program`));

  const unreachable = await (await startIn(t, folder, { DATABASE_URL: 'postgres://u:hush@127.0.0.1:1/db' })).ended;
  t.equal(unreachable.code, 1);
  t.match(unreachable.output, /DATABASE_URL: nothing usable answers at 127\.0\.0\.1:1/);
  t.notMatch(unreachable.output, /hush/);

  const fixture = await startIn(t, folder);
  const { processes } = await fixture.ready;
  const twice = await (await startIn(t, folder)).ended;
  t.equal(twice.code, 1);
  t.match(twice.output, /EloquentPoll runs here already, as process \d+/);
  t.equal(alive(processes).length, 6, 'the first one is not disturbed');
  t.notMatch(readFileSync(join(folder, 'processes.json'), 'utf8'), /ep_k_/);
  fixture.child.kill('SIGTERM');
  await fixture.ended;
  await everythingEnded(folder, processes);
});
