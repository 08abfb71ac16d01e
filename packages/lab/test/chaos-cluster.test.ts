import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';

// slow: 60 s

// A short fault campaign on a Redis cluster, in a file of its own because campaigns take long.

const script = fileURLToPath(new URL('../src/faults/main.ts', import.meta.url));
const run = (...args: string[]) => promisify(execFile)(process.execPath, [script, ...args], { maxBuffer: 2 ** 24 });

t.test('a Redis cluster loses masters and moves slots, and no poll is lost or billed twice', async (t) => {
  const { stdout } = await run(
    '--only',
    'cluster',
    '--minutes',
    '0.15',
    '--in-flight',
    '15',
    '--kills',
    '20',
    '--seed',
    'short2',
    '--json',
  );
  const { holds, cluster } = JSON.parse(stdout);
  for (const { rule, examples } of cluster.rules) t.same(examples, [], rule);
  t.equal(holds, true);
  t.ok(cluster.counts.polls > 0, 'polls were asked');
  // The seed's first fault of this kind comes after three seconds.
  t.ok(cluster.figures['slots of a struck master served again'], 'a master was struck');
  t.match(cluster.counts, { 'polls lost': 0, 'double captures': 0, 'open holds': 0, 'given up': 0 });
});
