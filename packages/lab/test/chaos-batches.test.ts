import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';

// slow: 45 s

// A short fault campaign of batches, in a file of its own because campaigns take long.

const script = fileURLToPath(new URL('../src/faults/main.ts', import.meta.url));
const run = (...args: string[]) => promisify(execFile)(process.execPath, [script, ...args], { maxBuffer: 2 ** 24 });

t.test(
  'batches lose no row, run and bill none twice, while processes are killed and Redis loses everything',
  async (t) => {
    const { stdout } = await run(
      '--only',
      'batches',
      '--minutes',
      '0.1',
      '--in-flight',
      '8',
      '--kills',
      '3',
      '--seed',
      'short',
      '--json',
    );
    const { holds, batches } = JSON.parse(stdout);
    t.equal(holds, true);
    t.ok(batches.counts['polls of batches'] > 0, 'rows were run');
    t.ok(batches.faults['kill gateway during an upload'] > 0, 'a gateway died while it read rows');
    t.match(batches.counts, { 'polls lost': 0, 'double captures': 0, 'open holds': 0, 'given up': 0 });
    for (const { rule, examples } of batches.rules) t.same(examples, [], rule);
  },
);
