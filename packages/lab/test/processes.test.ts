import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { household } from '../src/faults/processes.ts';

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

t.test('a household ends its members, also a stopped one', async (t) => {
  const home = household();
  const [one, two] = await Promise.all([
    home.start('one', '@eloquentpoll/simulator/main', {}),
    home.start('two', '@eloquentpoll/simulator/main', {}),
  ]);
  t.match(one.ready, { msg: 'ready', url: /^http/ });
  two.signal('SIGSTOP');
  await home[Symbol.asyncDispose]();
  t.same([one.alive, two.alive, exists(one.pid), exists(two.pid)], [false, false, false, false]);
});

t.test('a process that does not become ready is an error that says why', async (t) => {
  await using home = household();
  await t.rejects(home.start('worker', '@eloquentpoll/worker/main', {}), /DATABASE_URL is not set/);
});

t.test('when the experiment is killed nothing stays behind', async (t) => {
  const script = fileURLToPath(new URL('fixtures/abandon-a-household.ts', import.meta.url));
  const experiment = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const pid = Number((await createInterface({ input: experiment.stdout })[Symbol.asyncIterator]().next()).value);
  t.ok(exists(pid));
  experiment.kill('SIGKILL');
  while (exists(pid)) await turn();
  t.pass('its member is gone');
});
