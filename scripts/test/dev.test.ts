import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { ProcessGroup } from '@eloquentpoll/services/process-group';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t, { type Test } from 'tap';
import { restartingApps } from '../dev/restarting-app.ts';
import { type Sources, sourceFolders, watchSources } from '../dev/watch-sources.ts';
import { temporaryFolder } from './fixtures/run-fixture.ts';

// slow: 6 s

t.test('a program depends on its own folder and the packages of its package.json, and theirs', async (t) => {
  const gateway = sourceFolders(root, 'apps/gateway/src/main.ts');
  for (const folder of ['apps/gateway', 'packages/voting', 'packages/client', 'packages/storage'])
    t.ok(gateway.includes(folder), folder);
  const worker = sourceFolders(root, 'apps/worker/src/main.ts');
  t.ok(worker.includes('packages/voting'));
  t.notOk(worker.includes('packages/client'), 'which only the gateway serves');
});

t.test('a changed source file is reported, a changed test or document is not', async (t) => {
  const folder = temporaryFolder(t);
  using sources = watchSources(folder);
  const changed = sources.nextChange('main.ts');
  for (const name of ['notes.md', '.main.ts.swp', 'main.ts']) writeFileSync(join(folder, name), 'x');
  t.equal(await changed, 'main.ts');
});

/** Changes when the test says so. */
function manualSources() {
  let waiting: ((file: string) => void)[] = [];
  const sources: Sources = {
    nextChange: () => new Promise((resolve) => waiting.push(resolve)),
    [Symbol.dispose]() {},
  };
  const change = () => {
    for (const resolve of waiting) resolve('a.ts');
    waiting = [];
  };
  return { sources, change };
}

async function runningProgram(t: Test, text: string) {
  const folder = temporaryFolder(t);
  const file = join(folder, 'program.ts');
  const write = (source: string) => writeFileSync(file, source);
  write(text);
  const group = await ProcessGroup.open(folder);
  const stopping = new AbortController();
  t.teardown(async () => {
    stopping.abort();
    await group.stop();
  });
  const { sources, change } = manualSources();
  const lines: string[] = [];
  const spec = { name: 'program', script: relative(root, file), env: process.env, stage: 1, grace_ms: 500 };
  const surroundings = { show: (line: string) => void lines.push(line), stopping: stopping.signal };
  const app = await restartingApps(sources)(group, spec, surroundings);
  const shown = (pattern: RegExp) =>
    eventually(`${pattern} is shown`, () => {
      const index = lines.findIndex((line) => pattern.test(line));
      if (index >= 0) lines.splice(0, index + 1);
      return index >= 0;
    });
  return { app, write, change, shown };
}

const READY = `console.log(JSON.stringify({ msg: 'ready', version: 1 }));`;

t.test('a change restarts it; a mistake or a crash waits for the next change', async (t) => {
  const { app, write, change, shown } = await runningProgram(t, `${READY} setInterval(() => {}, 1000);`);
  t.match(app.ready, { version: 1 });
  change();
  await shown(/a\.ts changed/);
  await shown(/restarted in \d+ ms/);
  write('const broken = ;');
  change();
  await shown(/ended with code 1 before it was ready\.[\s\S]*broken[\s\S]*waiting for a change/);
  write(`${READY} setTimeout(() => process.exit(3), 50);`);
  change();
  await shown(/restarted/);
  await shown(/ended with code 3; waiting for a change/);
  write(`${READY} process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);`);
  change();
  await shown(/restarted/);
  change();
  await shown(/restarted/);
  t.pass('also one that ignores SIGTERM');
});
