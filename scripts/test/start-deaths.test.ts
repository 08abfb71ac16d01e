import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { temporaryFolder } from './fixtures/run-fixture.ts';
import { alive, everythingEnded, startIn } from './fixtures/start-in.ts';

// slow: 10 s

// How `npm start` ends when a process dies, when it is killed itself, and when the apps do not listen.

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
  // Requests within 0.7 s count as one, from when the first was heard, which a busy machine delays.
  await delay(2_000);
  fixture.child.kill('SIGINT');
  const { code, output } = await fixture.ended;
  t.equal(code, 0);
  t.ok(performance.now() - began < 20_000, 'within 20 s');
  t.match(output, /had to kill: gateway, worker, simulator/);
  t.same(alive(processes), []);
});
