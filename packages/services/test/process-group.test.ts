import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { processIdentity } from '@eloquentpoll/launch/process-identity';
import t from 'tap';
import { startApp } from '../src/start-app.ts';
import { openThrowAwayGroup } from '../src/throw-away-group.ts';

const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
const ready = { file: fixture('ready.ts'), env: process.env };

t.test('a group ends its processes, also a stopped one, and removes its folder', async (t) => {
  const group = await openThrowAwayGroup('a test');
  const [one, two] = await Promise.all(['one', 'two'].map((name) => startApp(group, { ...ready, name })));
  t.match(one?.ready, { msg: 'ready', pid: one?.pid });
  two?.signal('SIGSTOP');
  t.same(await group.stop(), [], 'none had to be killed');
  for (const app of [one, two]) {
    t.same(await app?.exited, { code: null, signal: 'SIGTERM' });
    t.equal(processIdentity(app?.pid ?? 0), null);
  }
  t.notOk(existsSync(group.folder));
});

t.test('a folder in which another program still writes is removed as well', async (t) => {
  const group = await openThrowAwayGroup('a test');
  const script = `
    const { mkdirSync, writeFileSync } = require('node:fs');
    let until = Infinity;
    for (let i = 0; Date.now() < until; i++) {
      mkdirSync('busy', { recursive: true });
      writeFileSync('busy/' + i, 'x');
      if (i !== 1_000) continue;
      console.log('writes');
      until = Date.now() + 700;
    }`;
  const writer = spawn(process.execPath, ['-e', script], { cwd: group.folder, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(writer, 'exit');
  await once(writer.stdout, 'data');
  await group.stop();
  t.notOk(existsSync(group.folder));
  await ended;
});

t.test('a program that ends before it is ready is a failure with its last lines', async (t) => {
  await using group = await openThrowAwayGroup('a test');
  const app = { name: 'app', file: fixture('no-such-file.ts'), env: process.env };
  const failure = await startApp(group, app).catch((error) => error);
  t.equal(failure.message, 'The app ended with code 1 before it was ready.');
  t.match(failure.output.join('\n'), /Cannot find module/);
});

t.test('a SIGKILL of the owner leaves no process and no folder behind', async (t) => {
  const owner = spawn(process.execPath, [fixture('abandon-a-group.ts')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const { value = '' } = await createInterface({ input: owner.stdout })[Symbol.asyncIterator]().next();
  const { pid, folder } = JSON.parse(value);
  t.ok(processIdentity(pid));
  owner.kill('SIGKILL');
  const until = performance.now() + 20_000;
  while ((processIdentity(pid) || existsSync(folder)) && performance.now() < until) await delay(20);
  t.notOk(processIdentity(pid), 'its process is gone');
  t.notOk(existsSync(folder), 'its folder is gone');
});
