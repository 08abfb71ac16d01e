import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { runTests } from '../src/mutate/run-tests.ts';

t.test('processes that a test started end with its run, whether it failed or was too late', async (t) => {
  const folder = t.testdir();
  for (const [outcome, end, limitMs] of [
    ['failed', 'process.exit(1)', 60_000],
    ['late', 'setInterval(() => {}, 1_000)', 3_000],
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

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
