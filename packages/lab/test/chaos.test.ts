import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';

// slow: 35 s

// A short fault campaign: everything that `npm run chaos` starts, a few kills, and a verdict.

const script = fileURLToPath(new URL('../src/faults/main.ts', import.meta.url));
const run = (...args: string[]) => promisify(execFile)(process.execPath, [script, ...args], { maxBuffer: 2 ** 24 });

t.test('the whole service under faults, for a moment', async (t) => {
  const settings = ['--only', 'service', '--minutes', '0.1', '--in-flight', '20', '--kills', '3', '--seed', 'short'];
  const { stdout } = await run(...settings, '--json');
  const { holds, service } = JSON.parse(stdout);
  t.equal(holds, true);
  t.ok(service.counts.polls > 0, 'polls were asked');
  t.match(service.counts, { 'polls lost': 0, 'double captures': 0, 'open holds': 0, 'given up': 0 });
  for (const { rule, examples } of service.rules) t.same(examples, [], rule);
});

t.test('a mistake in its settings is one sentence, and starts nothing', async (t) => {
  await t.rejects(run('--only', 'tea'), { code: 2, stderr: /there is no experiment "tea"/ });
});
