import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';

// slow: 25 s

// A short fault campaign of workers, in a file of its own because campaigns take long.

const script = fileURLToPath(new URL('../src/faults/main.ts', import.meta.url));
const run = (...args: string[]) => promisify(execFile)(process.execPath, [script, ...args], { maxBuffer: 2 ** 24 });

t.test('workers that are killed under load lose nothing and bill nothing twice', async (t) => {
  const settings = ['--only', 'workers', '--kills', '3', '--stops', '0', '--polls', '30', '--in-flight', '24'];
  const { stdout } = await run(...settings, '--seed', 'short', '--json');
  const { workers } = JSON.parse(stdout);
  t.match(workers.counts, { 'process kills': 3, 'given up': 0 });
  t.ok(workers.counts['polls taken over from killed workers'] > 0, 'they were at work');
  for (const { rule, examples } of workers.rules) t.same(examples, [], rule);
});
