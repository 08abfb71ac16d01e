import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { mutateArea } from '../src/mutate/mutate-area.ts';
import { runTests } from '../src/mutate/run-tests.ts';

// slow: 20 s

t.test('processes that a test started end with its run, whether it failed or was too late', async (t) => {
  const folder = t.testdir();
  for (const [outcome, end, limitMs] of [
    ['failed', 'process.exit(1)', 60_000],
    ['late', 'setInterval(() => {}, 1_000)', 10_000],
  ] as const) {
    const pidFile = join(folder, `${outcome}.pid`);
    const test = join(folder, `${outcome}.test.mjs`);
    writeFileSync(
      test,
      `import { spawn } from 'node:child_process';
       import { writeFileSync } from 'node:fs';
       const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000)'], { stdio: 'ignore' });
       writeFileSync(${JSON.stringify(pidFile)}, String(child.pid));
       ${end};`,
    );
    t.equal(await runTests({ tests: [test], env: process.env, limitMs }), outcome);
    t.ok(existsSync(pidFile), 'it had started one');
    await eventually('the process has ended', () => !isRunning(Number(readFileSync(pidFile, 'utf8'))));
  }
});

t.test('tests that pass one by one, but not in one process, are refused before any mutant', async (t) => {
  const alone = 'if (globalThis.hasRun) process.exit(1);\nglobalThis.hasRun = true;\n';
  const folder = t.testdir({ 'one.test.mjs': alone, 'two.test.mjs': alone });
  const work = {
    area: { name: 'made up', files: [], tests: ['one.test.mjs', 'two.test.mjs'], maxSurviving: 0 },
    root: folder,
    env: process.env,
    databases: () => Promise.reject(new Error('no function is changed')),
    atOnce: 1,
    part: { number: 1, of: 1 },
    onVerdict: () => {},
    onSurvivor: () => {},
  };
  await t.rejects(mutateArea(work), /made up pass one by one, but together: failed/);
  await t.resolves(mutateArea({ ...work, area: { ...work.area, tests: ['one.test.mjs'] } }));
});

t.test('what survives is reported at once, not only at the end', async (t) => {
  const folder = t.testdir({
    'sum.mjs': 'export const sum = (a, b) => a + b;\n',
    'weak.test.mjs': "import { sum } from './sum.mjs';\nif (sum(2, 0) !== 2) process.exit(1);\n",
  });
  const reported: string[] = [];
  const { killed, survivors } = await mutateArea({
    area: { name: 'made up', files: ['sum.mjs'], tests: ['weak.test.mjs'], maxSurviving: 0 },
    root: folder,
    env: process.env,
    databases: () => Promise.reject(new Error('no function is changed')),
    atOnce: 1,
    part: { number: 1, of: 1 },
    onVerdict: ({ survivors }) => t.same(reported, survivors),
    onSurvivor: (label) => reported.push(label),
  });
  t.equal(killed, 1, 'without a sum');
  t.match(survivors, ['sum.mjs:1: export const sum = (a, b) => a + b; => export const sum = (a, b) => a - b;']);
  t.same(reported, survivors);
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
